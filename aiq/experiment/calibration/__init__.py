"""What runs over damaged reports say of the judges that scored them."""

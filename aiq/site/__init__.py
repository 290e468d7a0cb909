"""The pages that show runs to people, made from nothing but the files of their folders; and tables on the terminal."""

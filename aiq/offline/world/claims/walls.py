"""Pages that hold nothing: errors, bot checks, logins, cookie walls, empty and garbled text, in several languages."""

from aiq.offline.world.draw import Draw

_BODIES = (
    "404\n\nSorry, we couldn't find that page.\n\nGo back to the home page or use the search above.",
    "Page not found\n\nThe page you requested could not be found. It may have been moved or deleted.",
    "Oops! That page can't be found.\n\nIt looks like nothing was found at this location. Maybe try a search?",
    "403 Forbidden\n\nnginx",
    "Access Denied\n\nYou don't have permission to access this page on this server.\n\n"
    "Reference #18.2f5e1402.1700000000.3a1b2c",
    "Just a moment...\n\nVerifying you are human. This may take a few seconds.\n\nThe site needs to review "
    "the security of your connection before proceeding.",
    "Attention Required!\n\nPlease complete the security check to access the site. "
    "Why do I have to complete a CAPTCHA?",
    "Are you a robot?\n\nWe've detected unusual activity from your computer network. "
    "To continue, please click the box below.",
    "Please enable JavaScript and cookies to continue.",
    "You need to enable JavaScript to run this app.",
    "Sign in to continue\n\nEmail\n\nPassword\n\nForgot your password? Don't have an account? Register",
    "This article is for subscribers only.\n\nSubscribe to read the full story, "
    "or log in if you already have an account.",
    "We value your privacy\n\nWe and our partners use cookies and similar technologies. "
    "Accept all cookies. Manage options.",
    "502 Bad Gateway\n\nThe server encountered a temporary error. Please try again later.",
    "503 Service Unavailable\n\nNo server is available to handle this request.",
    "Too Many Requests\n\nYou have been rate limited. Try again in a few minutes.",
    "This site can't be reached\n\nThe connection has timed out. ERR_CONNECTION_TIMED_OUT",
    "Warning: Target URL returned error 404: Not Found\n\nWarning: This page maybe not yet fully loaded.",
    "scrape failed: timeout after 30 seconds",
    "scrape failed: HTTP status 451",
    "",
    "\n\n \n",
    "Loading...",
    "Your browser is not supported. Please upgrade your browser to view this content.",
    "The document you requested has been removed or is no longer available.",
    "页面不存在\n\n您访问的页面不存在或已被删除，请返回首页。",
    "抱歉，您访问的页面出错了\n\n服务器繁忙，请稍后再试。",
    "访问被拒绝\n\n您没有权限访问该页面。",
    "安全验证\n\n请完成下方验证后继续访问。拖动滑块完成拼图。",
    "请登录后查看全文\n\n手机号登录 验证码登录 立即注册",
    "404 Not Found\n\n找不到网页",
    "Seite nicht gefunden\n\nDie angeforderte Seite existiert nicht.",
    "Page introuvable\n\nLa page que vous recherchez n'existe pas.",
    "Página no encontrada\n\nLo sentimos, la página que busca no existe.",
    "ページが見つかりません\n\nお探しのページは移動または削除された可能性があります。",
    "%PDF-1.7 %âãÏÓ 12 0 obj << /Type /XObject /Length 2 >> stream "
    "xœ¥Wßo›0~ç¯ð#¼Öw¶ÏØR %áÅÑÚ§>ˆ¨¦ÒT©Ú endstream endobj " * 3,
)
_MENU = (
    "[Home](https://site.example/) [About](https://site.example/about) [Contact](https://site.example/contact)",
    "*   [News](https://site.example/n)\n*   [Topics](https://site.example/t)\n*   [Newsletter](https://site.example/l)",
    "Skip to content",
    "",
    "",
)


def wall(draw: Draw) -> str:
    """One such page, at times with the menu and foot of its site around it."""
    body = draw.pick(_BODIES)
    if not body.strip() or body.startswith(("%PDF", "scrape")):
        return body
    foot = draw.pick(
        ("", "", "© 2026 Wayfarer Media. All rights reserved. Terms. Privacy.", "Powered by Fennel Hosting")
    )
    return "\n\n".join(part for part in (draw.pick(_MENU), body, foot) if part)

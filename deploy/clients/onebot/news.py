# 把“60 秒读世界”发到 QQ 群：python3 news.py 群号 [text|image]
# OneBot v11 的 HTTP 接口在 ONEBOT，由机器人程序提供；它设有令牌时，写在 ONEBOT_TOKEN 里。
import base64, json, os, sys, urllib.request

sundry = os.environ.get("SUNDRY", "http://127.0.0.1:8080")
onebot = os.environ.get("ONEBOT", "http://127.0.0.1:3000")
group, form = int(sys.argv[1]), (sys.argv[2:] or ["text"])[0]

with urllib.request.urlopen(f"{sundry}/api/60s?type={form}", timeout=30) as response:
    body = response.read()
if form == "image":  # 图片随消息一起发送，OneBot 不必能访问 Sundry
    segment = {"type": "image", "data": {"file": "base64://" + base64.b64encode(body).decode()}}
else:
    segment = {"type": "text", "data": {"text": body.decode()}}

request = urllib.request.Request(
    onebot + "/send_group_msg",
    json.dumps({"group_id": group, "message": [segment]}).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("ONEBOT_TOKEN", "")},
)
with urllib.request.urlopen(request, timeout=30) as response:
    result = json.load(response)
if result["retcode"] != 0:  # 失败时 HTTP 状态也是 200
    sys.exit(f"没有发出：{result}")

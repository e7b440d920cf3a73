# SPDX-License-Identifier: Apache-2.0
"""A camera on the loopback: serves a clip by RTSP, packets in the connection, as ffmpeg paces them.

    rtsp_server.py PORT CLIP [stall=T:S] [drop=T] [away=T:S] [end=T]

stall: T seconds after the first client began to play, nothing is sent for S seconds. drop: the connection is
closed. away: it is closed, and new ones are refused for S seconds. end: the server ends."""
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import time

port, clip = int(sys.argv[1]), sys.argv[2]
events = {k: [float(n) for n in v.split(':')] for k, v in (a.split('=') for a in sys.argv[3:])}
end = events.pop('end', [60])[0]
stall = events.pop('stall', [1e9, 0])

relay = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
relay.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
relay.bind(('127.0.0.1', 0))
target = f'rtp://127.0.0.1:{relay.getsockname()[1]}?rtcpport=9'
ffmpeg = ['ffmpeg', '-v', 'quiet', '-re', '-stream_loop', '-1', '-i', clip, '-an', '-c', 'copy', '-f', 'rtp']
with tempfile.NamedTemporaryFile() as file:
    subprocess.run(ffmpeg[:3] + ffmpeg[6:8] + ['-t', '0.1', '-c', 'copy', '-an', '-f', 'rtp', '-sdp_file', file.name, target],
                   check=True, stdout=subprocess.DEVNULL)
    sdp = open(file.name).read()
sdp = re.sub(r'm=video \d+', 'm=video 0', sdp) + 'a=control:track\r\n'


def listen():
    server = socket.create_server(('127.0.0.1', port))
    server.settimeout(0.05)
    return server


def answer(client, request):
    number = re.search(r'CSeq: *(\d+)', request).group(1)
    method = request.split()[0]
    more, body = '', ''
    if method == 'OPTIONS':
        more = 'Public: DESCRIBE, SETUP, PLAY, TEARDOWN\r\n'
    elif method == 'DESCRIBE':
        more, body = f'Content-Type: application/sdp\r\nContent-Length: {len(sdp)}\r\n', sdp
    elif method == 'SETUP':
        more = 'Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n'
    client.sendall(f'RTSP/1.0 200 OK\r\nCSeq: {number}\r\n{more}\r\n{body}'.encode())
    return method


def serve(client, began, due):
    """Until the client goes or an event closes the connection. Returns when the first client began."""
    sender, text = None, b''
    try:
        while time.monotonic() < began + end if began else True:
            ready, _, _ = select.select([client, relay], [], [], 0.05)
            now = time.monotonic() - began if began else 0
            if due and now > due[0]:
                return began
            if client in ready:
                data = client.recv(65536)
                if not data:
                    return began
                text += data
                while b'\r\n\r\n' in text:
                    head, text = text.split(b'\r\n\r\n', 1)
                    request = head.decode(errors='replace')
                    method = answer(client, request) if 'CSeq' in request else ''
                    if method == 'PLAY':
                        while select.select([relay], [], [], 0)[0]:
                            relay.recv(65536)
                        sender = subprocess.Popen(ffmpeg + [target], stdout=subprocess.DEVNULL)
                        began = began or time.monotonic()
                    if method == 'TEARDOWN':
                        return began
            if relay in ready:
                packet = relay.recv(65536)
                if not stall[0] < now < stall[0] + stall[1]:
                    client.sendall(b'$\0' + len(packet).to_bytes(2, 'big') + packet)
    except OSError:
        pass
    finally:
        if sender:
            sender.kill()
            sender.wait()
        client.close()
    return began


began = 0
server = listen()
limit = time.monotonic() + end + 30
while time.monotonic() < limit and (not began or time.monotonic() < began + end):
    try:
        client, _ = server.accept()
    except TimeoutError:
        continue
    name = next(iter(events), None)
    due = events.get(name)
    began = serve(client, began, due)
    if due and began and time.monotonic() - began > due[0]:
        del events[name]
        if name == 'away':
            server.close()
            time.sleep(due[1])
            server = listen()
os._exit(0)

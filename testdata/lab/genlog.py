#!/usr/bin/env python3
"""genlog.py FRAMES OUT [SESSION_ID [LABEL [PAYLOAD_BYTES]]]  writes a JSONL log with only the members every writer of this format has (valid, correlated)."""
import sys, json, datetime
frames=int(sys.argv[1]); out=sys.argv[2]
sid=sys.argv[3] if len(sys.argv)>3 else "gen-1-000000000001"
label=sys.argv[4] if len(sys.argv)>4 else "gen"
pad="x"*(int(sys.argv[5]) if len(sys.argv)>5 else 200)
t0=datetime.datetime(2026,11,30,12,0,0,tzinfo=datetime.timezone.utc)
def ts(us): return (t0+datetime.timedelta(microseconds=us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
f=open(out,"w")
seq=0
def emit(d,raw=None,text=None,us=0):
    global seq
    seq+=1
    e={"session_id":sid,"server_label":label,"seq":seq,"ts":ts(us),"direction":d,"transport":"stdio"}
    if raw is not None: e["raw"]=raw
    if text is not None: e["text"]=text
    f.write(json.dumps(e,separators=(",",":"))+"\n")
emit("meta",{"command":["node","server.js"],"cwd":"/srv/app"})
emit("c2s",{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gen","version":"1"}}},us=1)
emit("s2c",{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"gs","version":"1"}}},us=900)
emit("c2s",{"jsonrpc":"2.0","method":"notifications/initialized"},us=1000)
i=0; us=2000
while seq+2<=frames:
    i+=1
    tool="tool%d"%(i%20)
    emit("c2s",{"jsonrpc":"2.0","id":i,"method":"tools/call","params":{"name":tool,"arguments":{"n":i,"pad":pad}}},us=us)
    if i%50==0: emit("stderr",text="log line %d from server"%i,us=us+10)
    if i%100==0: r={"jsonrpc":"2.0","id":i,"error":{"code":-32603,"message":"boom"}}
    else: r={"jsonrpc":"2.0","id":i,"result":{"content":[{"type":"text","text":pad}]}}
    emit("s2c",r,us=us+500+(i*37)%4000)
    us+=6000
f.close()

"""A client of the platform calls, written from their description alone, with Python's standard library.

It reads its work as JSON from standard input, goes through a whole session (login, list, attributes, set, alerts,
logout), and writes what it saw as JSON to standard output. It also sends requests without a body in the ways of old
HTTP stacks, which name a type for the body that isn't there.
"""
import http.client
import json
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as tree

NAMESPACE = "{http://arrayent.com/zamapi/}"


class Fault(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Platform:
    def __init__(self, base_url, method):
        self.base = base_url + "/zdk/services/zamapi/"
        self.method = method

    def call(self, operation, /, **parameters):
        form = urllib.parse.urlencode(parameters)
        if self.method == "GET":
            request = urllib.request.Request(self.base + operation + "?" + form)
        else:
            request = urllib.request.Request(self.base + operation, data=form.encode())
        try:
            with urllib.request.urlopen(request) as answer:
                root = tree.fromstring(answer.read())
        except urllib.error.HTTPError as error:
            root = tree.fromstring(error.read())
            if error.code != 500 or root.tag != NAMESPACE + "requestFault":
                raise
            raise Fault(int(root.findtext("errorCode")), root.findtext("errorMsg"))
        if root.tag != NAMESPACE + operation + "Response":
            raise ValueError("an answer to something else: " + root.tag)
        return root


def sign_in_by_json(work, password):
    """The status and the object of a session by JSON."""
    body = json.dumps({"username": work["name"], "password": password}).encode()
    address = "%s/acc/applications/%s/sessions" % (work["baseUrl"], work["appId"])
    request = urllib.request.Request(address, data=body, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


# The headers and bytes of a request without a body.
EMPTY = [
    ({"Content-Length": "0", "Content-Type": "text/plain; charset=ISO-8859-1"}, b""),
    ({"Content-Length": "0", "Content-Type": "application/octet-stream"}, b""),
    ({"Content-Type": "text/plain"}, b""),
    ({}, b""),
    ({"Transfer-Encoding": "chunked", "Content-Type": "text/xml"}, b"0\r\n\r\n"),
]


def without_body(work, method, operation, **parameters):
    """The status and the root's name of the same request in each of these ways, over one connection."""
    seen = []
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(work["baseUrl"]).netloc)
    for headers, body in EMPTY:
        query = urllib.parse.urlencode(parameters)
        connection.putrequest(method, "/zdk/services/zamapi/%s?%s" % (operation, query))
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        seen.append([answer.status, tree.fromstring(answer.read()).tag.replace(NAMESPACE, "")])
    connection.close()
    return seen


def fault_of(act):
    try:
        act()
    except Fault as fault:
        return fault.code
    return None


def flat(element):
    return {child.tag: child.text or "" for child in element if len(child) == 0}


def session(work):
    platform = Platform(work["baseUrl"], work["method"])
    user = platform.call("userLogin", name=work["name"], password=work["password"], appId=work["appId"])
    token = user.findtext("securityToken")

    def call(operation, /, **parameters):
        return platform.call(operation, secToken=token, **parameters)

    seen = {"userId": int(user.findtext("userId"))}
    seen["devices"] = [flat(entry) for entry in call("getDeviceList").findall("devList")]
    account, lamp = work["account"], work["lamp"]
    whole = call("getDeviceAttributesWithValues", devId=account)
    seen["typeName"] = whole.findtext("typeName")
    seen["attributes"] = {a.findtext("name"): a.findtext("value") or "" for a in whole.findall("attrList")}
    seen["set"] = call("setDeviceAttribute", devId=lamp, name="power", value=work["value"]).findtext("retCode")
    seen["got"] = call("getDeviceAttribute", devId=lamp, name="power").findtext("value")
    seen["time"] = int(call("getDeviceAttribute", devId=lamp, name="power").findtext("updTime"))
    three = {"name1": "power", "value1": "dim", "name2": "level", "value2": "7", "name3": "note", "value3": ""}
    seen["setThree"] = call("setMultiDeviceAttributes2", devId=lamp, **three).findtext("retCode")
    of_lamp = call("getDeviceAttributesWithValues", devId=lamp, deviceTypeId="1")
    seen["three"] = {a.findtext("name"): a.findtext("value") for a in of_lamp.findall("attrList")}
    seen["values"] = len(call("getUserValueList").findall("valueList"))
    seen["empty"] = without_body(work, "POST", "getDeviceList", secToken=token)
    seen["wrongMethod"] = without_body(work, "PUT", "getDeviceList", secToken=token)
    seen["session"] = sign_in_by_json(work, work["password"])
    seen["noSession"] = sign_in_by_json(work, "wrong")

    trigger = call(
        "addTrigger",
        devId=account,
        action="attribute",
        attrName="d.structures[1].a.away",
        operation="regex",
        stringThreshold="away|auto-away",
        address="",
        msg="",
        autoDisarm="true",
        autoDelete="false",
        autoDisable="false",
        enable="true",
        targetDeviceAttributes='%s,power:"off"' % lamp,
    ).findtext("triggerId")
    shown = call("getTrigger", triggerId=trigger).find("trigList")
    seen["trigger"] = flat(shown)
    seen["targets"] = [flat(target) for target in shown.findall("targetAttributesList")]
    seen["byDevice"] = [t.findtext("triggerId") for t in call("getTriggerDetailListByDevice", devId=account)]
    call("updateTriggerEnableState", triggerId=trigger, enable="0")
    seen["disabled"] = call("getTrigger", triggerId=trigger).findtext("trigList/enable")
    call("updateTriggersEnableStateByDevice", devId=account, enable="true")
    seen["byUser"] = [flat(t)["enable"] for t in call("getTriggerDetailListByUser")]
    seen["removed"] = call("removeTrigger", triggerId=trigger).findtext("retCode")
    seen["left"] = len(call("getTriggerDetailListByUser"))
    seen["faults"] = [
        fault_of(lambda: call("getTrigger", triggerId=trigger)),
        fault_of(lambda: call("setDeviceAttribute", devId=account, name="d.structures[1].a.away", value="home")),
        fault_of(lambda: call("getDeviceAttribute", devId=account, name="nothing")),
        fault_of(lambda: call("getDeviceAttribute", devId="999999", name="power")),
        fault_of(lambda: call("addTrigger", devId=account)),
        fault_of(lambda: call("noSuchOperation")),
    ]
    seen["logout"] = call("userLogout").findtext("retCode")
    seen["after"] = fault_of(lambda: call("getDeviceList"))
    return seen


def names(work):
    """The names of the devices in an answer that the test has fetched."""
    return [entry.findtext("devName") or "" for entry in tree.fromstring(work["xml"].encode()).findall("devList")]


if __name__ == "__main__":
    work = json.load(sys.stdin)
    json.dump(names(work) if "xml" in work else session(work), sys.stdout)

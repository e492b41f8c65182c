import Foundation
import LoopbackHTTP
import Testing

/// A web app on another origin, in a browser.
@Suite("A web app in a browser", .timeLimit(.minutes(20)))
struct WebAppTests {
  /// The app: it signs in, saves a record, and waits for a push about another device's record.
  ///
  /// The fragment of its address names the server and the API token.
  private static let app = """
    <!doctype html><title>waiting</title><button hidden>Sign in</button><p id="log"></p>
    <script>
    const [base, apiToken] = location.hash.slice(1).split(",");
    const container = "iCloud.test/development";
    const log = (text) => { document.getElementById("log").innerText += text + "\\n"; };
    let token;
    async function ask(path, body) {
      const query = "ckAPIToken=" + apiToken + "&clientId=browser"
        + (token ? "&ckWebAuthToken=" + encodeURIComponent(token) : "");
      const response = await fetch(base + path + "?" + query,
        { method: "POST", body: JSON.stringify(body) });
      token = response.headers.get("X-Apple-CloudKit-Web-Auth-Token") ?? token;
      return response.json();
    }
    const database = `/database/1/${container}/private/`;
    async function begin() {
      const refusal = await ask(database + "users/caller", {});
      log(refusal.serverErrorCode);
      const button = document.querySelector("button");
      button.hidden = false;
      button.onclick = () => window.open(refusal.redirectURL, "sign-in", "width=480,height=640");
    }
    window.addEventListener("message", async (event) => {
      if (event.origin !== base || !event.data.ckWebAuthToken) return;
      token = event.data.ckWebAuthToken;
      const push = await ask(`/device/1/${container}/tokens/create`,
        { apnsEnvironment: "development" });
      await ask(database + "subscriptions/modify", { operations: [{ operationType: "create",
        subscription: { subscriptionType: "query", subscriptionID: "all",
        query: { recordType: "Note" }, firesOn: ["create"] } }] });
      const saved = await ask(database + "records/modify", { operations: [{
        operationType: "create", record: { recordName: "from the page", recordType: "Note" } }] });
      log("saved " + saved.records.length);
      document.title = "signed in";
      const courier = await (await fetch(push.webcourierURL)).text();
      log("push " + courier.includes("from elsewhere"));
      document.title = "done";
    });
    begin();
    </script>
    """

  @Test("A page of another origin signs in, saves a record and gets a push, in a browser")
  func pageOfOtherOriginSignsIn() async throws {
    guard let program = InstalledProgram.browser() else { return }
    let tool = try ServerTool()
    let page = HTTPResponse(
      200, fields: [.init(name: "content-type", value: "text/html")], body: Array(Self.app.utf8))
    let web = try HTTPServer(
      admission: { _ in .accept(bodyBytes: 0) }, handler: { _ in page })
    let origin = "http://localhost:\(web.port)"
    let cloud = try await tool.serve(
      "--allow-origin", origin, "--account", "default", "--account", "bob")
    let browser = try await Browser(program, folder: tool.folder)
    try await browser.open("\(origin)/#\(cloud.url),\(cloud.apiToken)")
    try await browser.click("button", "Sign in")
    try await browser.turn(toPage: cloud.url + "/sign-in") {
      try await browser.click("button", "Sign in")
    }
    try await browser.wait(for: "document.querySelectorAll('#accounts button').length === 2")
    let purpose = try await browser.texts("#purpose")
    #expect(purpose.first?.hasPrefix("A page of \(origin) wants to use ") == true, "\(purpose)")
    try await browser.picture("sign-in")
    try await browser.click("#accounts button", "bob")
    try await browser.turn(toPage: origin)
    try await browser.wait(for: "document.title === 'signed in'")
    #expect(try await cloud.save("from elsewhere", account: "bob") == 200)
    try await browser.wait(for: "document.title === 'done'")
    let log = try await browser.text("document.querySelector('#log').innerText")
    #expect(log.split(separator: "\n") == ["AUTHENTICATION_REQUIRED", "saved 1", "push true"])
    try await browser.picture("web-app")
    try await browser.close()
    await web.stop()
    #expect(await cloud.stop() == 0)
  }
}

/// Holds requests of a page, or answers them in place of the server.
extension Browser {
  /// Holds the next request whose address contains `part`, until the test lets it go or the page
  /// ends it.
  func hold(_ part: String) async throws {
    try await read(
      """
      globalThis.realFetch ??= fetch;
      globalThis.letGo = globalThis.isAnswered = null;
      globalThis.fetch = async (address, options = {}) => {
        if (letGo || !address.includes(\(Self.quoted(part)))) return realFetch(address, options);
        await new Promise((done, fail) => {
          letGo = done;
          options.signal?.addEventListener('abort', () => fail(options.signal.reason));
        });
        const answer = await realFetch(address, options);
        const body = await answer.text();
        // Two frames later the page has done what it does with an answer.
        setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => {
          isAnswered = true;
        })));
        return new Response(body, {status: answer.status, headers: answer.headers});
      };
      0
      """)
  }

  /// Waits until a request is held.
  func waitForHeldRequest() async throws { try await wait(for: "globalThis.letGo") }

  /// Lets the held request go, and waits until the page has dealt with its answer.
  func letHeldRequestGo() async throws {
    try await read("letGo(); 0")
    try await wait(for: "isAnswered")
  }

  /// Answers requests of the page in place of the server.
  ///
  /// - Parameter script: The answer to the request to `url`; nothing if the server is to answer.
  func answer(_ script: String) async throws {
    try await read(
      """
      globalThis.realFetch ??= fetch;
      globalThis.fetch = async (address, options) => {
        const url = new URL(address, location.href);
        return \(script) || realFetch(address, options);
      };
      0
      """)
  }
}

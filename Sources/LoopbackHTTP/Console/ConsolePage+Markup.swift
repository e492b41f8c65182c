/// The page's frame; everything in it is filled in by the script.
extension ConsolePage {
  static let before = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>swift-cloud-sync</title>
    <link rel="icon" href="data:,">
    <style>
    """#

  static let between = #"""
    </style>
    </head>
    <body>
    <a class="skip" href="#main">Skip to the records</a>
    <header class="bar">
    <h1>swift-cloud-sync</h1>
    <p id="live" role="status" data-state="off">Not connected</p>
    <p id="totals"></p>
    <button type="button" id="leave" hidden>Forget token</button>
    </header>
    <form id="gate" hidden>
    <h2>Open the console</h2>
    <p>The server prints its control token when it starts. It stays in this tab.</p>
    <label for="token">Control token</label>
    <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required>
    <button class="strong">Open</button>
    <p id="refused" role="alert"></p>
    </form>
    <noscript><p class="note">This page needs its script, which came along with it.</p></noscript>
    <div id="room" hidden>
    <nav id="databases" aria-label="Databases">
    <h2>Databases</h2>
    <div id="tree" data-none="None yet. They come with the first request of a device."></div>
    </nav>
    <main id="main" tabindex="-1">
    <p id="path"></p>
    <h2><span id="zone"></span> <span class="count" id="count"></span></h2>
    <p id="wrong" role="alert"></p>
    <details id="zoneActions" hidden><summary>Zone actions</summary>
    <div class="row" id="zoneButtons"></div></details>
    <section aria-labelledby="recordsTitle">
    <h3 id="recordsTitle">Records</h3>
    <div id="records" data-none="No records here."></div>
    <button type="button" id="more" hidden>Show more</button>
    </section>
    <section aria-labelledby="changesTitle">
    <h3 id="changesTitle">Change log of the zone</h3>
    <ol id="changes" class="lines" data-none="No changes."></ol>
    </section>
    <section aria-labelledby="subscriptionsTitle">
    <h3 id="subscriptionsTitle">Subscriptions</h3>
    <ul id="subscriptions" class="lines" data-none="None in this database."></ul>
    </section>
    </main>
    <aside aria-label="Activity, devices and faults">
    <section aria-labelledby="feedTitle">
    <h2 id="feedTitle">Activity</h2>
    <ol id="feed" class="lines" tabindex="0" aria-labelledby="feedTitle"
      data-none="Nothing happened yet."></ol>
    </section>
    <section aria-labelledby="devicesTitle">
    <h2 id="devicesTitle">Devices</h2>
    <ul id="devices" class="lines" data-none="None yet."></ul>
    </section>
    <section aria-labelledby="accountsTitle">
    <h2 id="accountsTitle">Accounts</h2>
    <ul id="accounts" class="lines" data-none="None yet."></ul>
    </section>
    <section id="faults" aria-labelledby="faultsTitle" hidden>
    <h2 id="faultsTitle">Faults</h2>
    <label class="switch"><input type="checkbox" role="switch" id="holdPushes">
    <span>Hold pushes</span> <span class="count" id="heldPushes"></span></label>
    <ul id="pending" class="lines" data-none="None set up."></ul>
    <div id="held" class="lines"></div>
    <form id="fault">
    <div class="field"><label for="action">Next requests</label>
    <select id="action" name="action">
    <option value="fail">fail</option>
    <option value="drop-answers">are done, answer lost</option>
    <option value="delay">wait</option>
    <option value="hold">stand still</option>
    <option value="drop-pushes">lose their pushes</option>
    </select></div>
    <div class="field" data-for="fail drop-answers"><label for="code">with the code</label>
    <select id="code" name="code"></select></div>
    <div class="field" data-for="fail"><label for="retryAfter">retry after, s</label>
    <input id="retryAfter" name="retryAfter" type="number" min="0" max="86400" step="any"></div>
    <div class="field" data-for="delay"><label for="seconds">for, s</label>
    <input id="seconds" name="seconds" type="number" min="0" max="86400" step="any" value="2"></div>
    <div class="field" data-for="hold"><label for="point">where</label>
    <select id="point" name="point"><option value="beforeCommit">before the change</option>
    <option value="afterCommit">after the change</option></select></div>
    <div class="field"><label for="times">how many</label>
    <input id="times" name="count" type="number" min="1" max="1000000" step="1" value="1"></div>
    <div class="field" data-for="fail drop-answers delay hold"><label for="kind">of kind</label>
    <select id="kind" name="kind"></select></div>
    <div class="field"><label for="device">from device</label>
    <select id="device" name="device"></select></div>
    <div class="row"><button class="strong">Set up</button>
    <button type="button" id="release">Release held</button>
    <button type="button" id="clear">Clear all</button></div>
    </form>
    <details><summary>Limits</summary><form id="limits">
    <div id="limitFields"></div>
    <div class="row"><button>Set limits</button></div></form></details>
    <details><summary>Quota</summary><form id="quota">
    <div class="field"><label for="quotaAccount">of account</label>
    <select id="quotaAccount" name="account"></select></div>
    <div class="field"><label for="bytes">bytes, empty for no bound</label>
    <input id="bytes" name="bytes" type="number" min="0" step="1"></div>
    <div class="row"><button>Set quota</button></div></form></details>
    <p id="faultWrong" role="alert"></p>
    </section>
    </aside>
    </div>
    <p id="said" class="spoken" role="status"></p>
    <script>
    """#

  static let after = #"""
    </script>
    </body>
    </html>

    """#
}

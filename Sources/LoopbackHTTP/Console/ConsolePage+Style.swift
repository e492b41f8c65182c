/// The page's style sheet: one column on a narrow screen, three on a wide one, in the light or dark
/// color scheme of the system.
extension ConsolePage {
  static let style = #"""
    :root {
      color-scheme: light dark;
      --ground: #f7f7f5; --paper: #ffffff; --ink: #1d2024; --dim: #5b626c; --line: #dfe0dc;
      --blue: #1d5bb8; --tint: #e9f0fb; --red: #b0261c; --green: #1c7444; --amber: #845400;
      --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #131518; --paper: #1a1d21; --ink: #e4e6e9; --dim: #9ba2ac; --line: #2e333a;
        --blue: #86b4ff; --tint: #1e2a3e; --red: #ff9389; --green: #72d39e; --amber: #e5b657;
      }
    }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { -webkit-text-size-adjust: 100%; }
    body {
      margin: 0; background: var(--ground); color: var(--ink);
      font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
    }
    h1, h2, h3, h4, p, ol, ul, dl, dd { margin: 0; padding: 0; font-weight: inherit; }
    ol, ul { list-style: none; }
    h1 { font-size: 15px; font-weight: 650; }
    h2 { font-size: 13px; font-weight: 650; margin-bottom: 6px; }
    h3 { font-size: 12px; font-weight: 600; color: var(--dim); margin: 18px 0 6px; }
    a { color: var(--blue); }
    :focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; border-radius: 3px; }
    main:focus-visible { outline: none; }
    .skip {
      position: absolute; left: -999px; top: 4px; padding: 4px 10px; background: var(--paper);
    }
    .skip:focus { left: 8px; z-index: 2; }
    .spoken {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
    }
    .bar {
      display: flex; flex-wrap: wrap; align-items: center; gap: 2px 14px; padding: 8px 16px;
      min-height: 44px; background: var(--paper); border-bottom: 1px solid var(--line);
    }
    #live { display: flex; align-items: center; gap: 6px; color: var(--dim); }
    #live::before, .dot::before {
      content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--dim); flex: none;
    }
    #live[data-state=on] { color: var(--green); }
    #live[data-state=on]::before, .dot.on::before { background: var(--green); }
    #live[data-state=wait] { color: var(--amber); }
    #live[data-state=wait]::before, .dot.idle::before { background: var(--amber); }
    .dot.off::before { background: var(--red); }
    .dot { display: inline-flex; align-items: center; gap: 6px; }
    #totals { color: var(--dim); margin-left: auto; }
    #gate {
      max-width: 420px; margin: 12vh auto 0; padding: 20px; display: grid; gap: 8px;
      background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
    }
    #gate h2 { font-size: 16px; margin: 0; }
    #gate .strong { justify-self: start; margin-top: 4px; }
    #gate p, .note { color: var(--dim); }
    [role=alert] { color: var(--red); }
    #gate [role=alert] { color: var(--red); }
    [role=alert]:empty { display: none; }
    input, select, button {
      font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line);
      border-radius: 5px; padding: 3px 8px; min-height: 28px; min-width: 0; max-width: 100%;
    }
    input, select { border-color: color-mix(in srgb, var(--dim) 55%, var(--line)); }
    button { cursor: pointer; border-color: color-mix(in srgb, var(--dim) 45%, var(--line)); }
    button:hover { background: var(--tint); }
    button.strong { background: var(--blue); border-color: var(--blue); color: var(--paper); }
    button.strong:hover { filter: brightness(1.1); }
    button.risky { color: var(--red); }
    #room { display: grid; grid-template-columns: 232px minmax(0, 1fr) 340px; }
    #room > * { padding: 14px 16px 32px; min-width: 0; }
    nav, aside { background: var(--paper); }
    nav { border-right: 1px solid var(--line); min-height: calc(100vh - 45px); }
    aside { border-left: 1px solid var(--line); }
    aside > section + section { margin-top: 20px; }
    [data-none]:empty::before { content: attr(data-none); color: var(--dim); }
    .container { margin-bottom: 12px; }
    .container > h3 { margin: 8px 0 2px; font-family: var(--mono); overflow-wrap: anywhere; }
    .tag {
      font: 11px/1.5 system-ui, sans-serif; padding: 0 5px; border-radius: 3px; color: var(--dim);
      border: 1px solid var(--line); white-space: nowrap;
    }
    .tag.now { color: var(--blue); border-color: currentColor; font-weight: 600; }
    nav a {
      display: flex; justify-content: space-between; gap: 8px; padding: 3px 8px; margin: 0 -8px;
      color: inherit; text-decoration: none; border-radius: 5px; overflow-wrap: anywhere;
    }
    nav a:hover { background: var(--tint); }
    nav a[aria-current] { background: var(--tint); color: var(--blue); font-weight: 600; }
    nav a .dim { font-weight: 400; white-space: nowrap; }
    nav ul ul { margin: 0 0 4px 8px; padding-left: 10px; border-left: 1px solid var(--line); }
    .gone { padding: 3px 0; color: var(--dim); overflow-wrap: anywhere; }
    .gone s { margin-right: 6px; }
    .dim, .count, #path { color: var(--dim); }
    .count { font-weight: 400; }
    #path { font-size: 12px; overflow-wrap: anywhere; }
    main h2 { font-size: 18px; overflow-wrap: anywhere; margin: 0; }
    main h2 .count { font-size: 13px; }
    main > [role=alert] { margin-top: 8px; }
    details > summary { cursor: pointer; color: var(--dim); padding: 3px 0; }
    .row { display: flex; flex-wrap: wrap; gap: 6px; padding: 4px 0; }
    .record {
      background: var(--paper); border: 1px solid var(--line); border-radius: 6px;
      border-left: 3px solid var(--line); padding: 7px 12px 8px; margin-bottom: 6px;
    }
    .record.newest { border-left-color: var(--blue); }
    .record > div { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 10px; }
    .record h4 { font: 600 13px/1.5 var(--mono); overflow-wrap: anywhere; }
    .record .when { margin-left: auto; color: var(--dim); font-size: 12px; }
    .fields { margin-top: 3px; display: grid; grid-template-columns: minmax(80px, auto) 1fr; }
    .fields > div { display: contents; }
    .fields dt, .fields dd { padding: 2px 0; border-top: 1px solid var(--line); }
    .fields dt {
      color: var(--dim); font-size: 13px; padding-right: 16px; max-width: 220px;
      overflow-wrap: anywhere;
    }
    .fields dd { display: flex; gap: 10px; justify-content: space-between; min-width: 0; }
    .value {
      font: 12.5px/1.6 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0;
      max-height: 14em; overflow: auto;
    }
    .kind { color: var(--dim); font-size: 11px; line-height: 20px; white-space: nowrap; }
    .lines > * { padding: 4px 0; border-top: 1px solid var(--line); }
    .lines > :first-child { border-top: 0; }
    .line { display: flex; flex-wrap: wrap; gap: 0 8px; align-items: baseline; }
    .line > .end { margin-left: auto; }
    .line time, .line .number { color: var(--dim); font: 12px/1.6 var(--mono); }
    .line .name { font: 12.5px/1.6 var(--mono); overflow-wrap: anywhere; }
    .bad { color: var(--red); } .good { color: var(--green); } .warn { color: var(--amber); }
    #feed { max-height: 46vh; overflow: auto; }
    .switch { display: flex; gap: 8px; align-items: center; padding: 2px 0 6px; }
    .switch input {
      width: 16px; height: 16px; min-height: 0; accent-color: var(--blue); margin: 0;
    }
    form .field {
      display: grid; grid-template-columns: 116px 1fr; gap: 8px; align-items: center;
      padding: 2px 0;
    }
    #fault { margin: 8px 0; padding-top: 8px; border-top: 1px solid var(--line); }
    form .field label { color: var(--dim); }
    .controls { display: flex; gap: 6px; margin-top: 3px; }
    @media (prefers-reduced-motion: no-preference) {
      .fresh { animation: fresh 1.8s ease-out; }
      @keyframes fresh { from { background: var(--tint); } }
    }
    @media (max-width: 1080px) {
      #room { grid-template-columns: 208px minmax(0, 1fr); }
      aside {
        grid-column: 1 / -1; border-left: 0; border-top: 1px solid var(--line);
        display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: 20px 24px;
      }
      aside > section + section { margin-top: 0; }
      nav { min-height: 0; }
    }
    @media (max-width: 680px) {
      #room { display: block; }
      #room > * { padding: 12px; }
      .bar { padding: 8px 12px; }
      nav { border-right: 0; border-bottom: 1px solid var(--line); }
      #totals { margin-left: 0; order: 1; width: 100%; font-size: 12px; }
      #leave { margin-left: auto; }
      .record .when { margin-left: 0; width: 100%; }
      .fields { grid-template-columns: minmax(64px, 30%) 1fr; }
      .fields dt { padding-right: 8px; }
      input, select, button, nav a, summary { min-height: 36px; }
      nav a { align-items: center; }
    }
    """#
}

/// The console: a page that shows a server's contents and events.
///
/// It requests its data with the control token, which is in the fragment of the URL, the part that
/// browsers do not send.
enum ConsolePage {
  /// The paths of the page.
  static let paths = ["/", "/console"]

  /// The page; its script has several files, of which the last one starts it.
  static let page = StaticPage(
    script: [
      PackageResources.console_js, PackageResources.console_text_js,
      PackageResources.console_query_js, PackageResources.console_zone_js,
      PackageResources.console_form_js, PackageResources.console_record_js,
      PackageResources.console_tables_js, PackageResources.console_records_js,
      PackageResources.console_people_js, PackageResources.console_data_js,
      PackageResources.console_faults_js, PackageResources.console_feed_js,
    ], style: PackageResources.console_css, markup: PackageResources.console_html,
    allowing: ["img-src data:"])

  /// The page as a response.
  static let response = page.response(isAlone: true)
}

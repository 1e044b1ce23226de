// The search fetches the pages that it found, for an excerpt of each. Pages opened as files (file://) may not be fetched:
// their texts come from a script.
if (location.protocol === "file:") {
  const texts = new Promise((resolve) => {
    const script = document.createElement("script");
    script.src = "_static/search-texts.js";
    script.onload = () => resolve(window.SEARCH_TEXTS);
    document.head.append(script);
  });
  window.fetch = async (address) => {
    const page = address.replace(/^(\.\/)+/, "").replace(/\.html$/, "");
    const text = (await texts)[page] ?? "";
    return { text: async () => text };
  };
}

// The search of a page that was opened from a folder. Browsers start no worker for an address file://, so there the
// search runs in a hidden frame of the page, which gets and gives messages as a worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const place = new URL(url, document.baseURI)
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      document.body.append(frame)
      const inner = (this.inner = frame.contentWindow)
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const load = source =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script")
          script.src = new URL(source, place)
          script.onload = resolve
          script.onerror = reject
          inner.document.body.append(script)
        })
      inner.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve())
      this.ready = load(place)
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.inner.frameElement.remove()
    }
  }
}

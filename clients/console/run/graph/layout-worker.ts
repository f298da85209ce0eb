import { type GraphShape, layoutGraph } from './graph-layout.ts'

/** The layout off the page's thread: one shape in, one layout out. */
addEventListener('message', ({ data }: MessageEvent<GraphShape>) => {
  postMessage(layoutGraph(data))
})

import { type GraphLayout, type GraphShape, layoutGraph } from './graph-layout.ts'

/** The layout of a document: a small one at once, a large one by a worker, so that the page goes on. */
export async function placeGraph(shape: GraphShape): Promise<GraphLayout> {
  if (shape.ids.length <= AT_ONCE) return layoutGraph(shape)
  try {
    return await inWorker(shape)
  } catch {
    // A browser that starts no workers waits a moment instead.
    return layoutGraph(shape)
  }
}

/** Blocks that are laid out in less than 20 ms. */
const AT_ONCE = 60

function inWorker(shape: GraphShape): Promise<GraphLayout> {
  const worker = new Worker(new URL('./graph-layout/worker.ts', import.meta.url), { type: 'module' })
  return new Promise<GraphLayout>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<GraphLayout>) => resolve(data))
    worker.addEventListener('error', ({ message }) => reject(new Error(`The layout worker failed: ${message}`)))
    worker.postMessage(shape)
  }).finally(() => worker.terminate())
}

import type { Isolate } from '../../shared/ports/isolate.ts'
import { createIsolate } from '../isolate/isolate-pool.ts'

/**
 * The Isolate port: child processes inside the sandbox. Their program is a bundle of its own beside this one,
 * `isolate-worker.mjs`, made from functions/isolate/worker.ts.
 */
export function openIsolate(): Isolate {
  return createIsolate(new URL('./isolate-worker.mjs', import.meta.url))
}

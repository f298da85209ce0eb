import { runSchemaJob } from '../../../functions/isolate/schema-engine.ts'
import { runDataJob } from '../../../functions/isolate/table-and-text-engine.ts'
import type { Isolate } from '../../../shared/ports/isolate.ts'

/**
 * The Isolate port without a process of its own, for unit tests: the same engines, no limits of time and memory. What it
 * does not do (limits, transforms) is tested on the real one in test/integration/isolate.test.ts.
 */
export const inProcessIsolate: Isolate = {
  run: async (kind, data) => {
    if (kind === 'transform') return { ok: false, because: 'error', message: 'transforms do not run here' }
    const isSchema = kind === 'json_schema' || kind === 'compile'
    try {
      return { ok: true, value: JSON.parse((isSchema ? runSchemaJob : runDataJob)({ kind, ...data })) }
    } catch (error) {
      return { ok: false, because: 'error', message: error instanceof Error ? error.message : String(error) }
    }
  },
}

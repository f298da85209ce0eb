import type { Json } from '../../../shared/canonical.ts'
import { answerSchema } from '../../../shared/gates/compile-schema.ts'
import type { Isolate } from '../../../shared/isolate.ts'

/**
 * The Isolate port without a process of its own, for unit tests: the same schema code, no limits of time and memory.
 * What it does not do (limits, transforms) is tested on the real one in test/integration/isolate.test.ts.
 */
export const inProcessIsolate: Isolate = {
  run: async (kind, { program, input }) => {
    if (kind !== 'json_schema') return { ok: false, because: 'error', message: 'only json_schema runs here' }
    const { valid, errors } = answerSchema(program as { readonly [key: string]: Json }, input)
    return { ok: true, value: { valid, errors } }
  },
}

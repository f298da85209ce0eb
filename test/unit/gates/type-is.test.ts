import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../../shared/text/json.ts'
import { factsOf, judged } from './judged.ts'

test('type_is answers as port_type does, under its own name', async () => {
  const expected = fc.constantFrom('string', 'number', 'boolean', 'json', 'object', 'array', 'file', 'artifact')
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), expected, async (given, wanted) => {
      const facts = factsOf({ value: given as Json })
      const [a, b] = await Promise.all(
        ['type_is', 'port_type'].map((type) => judged({ type, port: 'value', expected: wanted }, facts)),
      )
      expect(a).toMatchObject({ type: 'type_is', passed: b?.passed, reason: b?.reason })
    }),
    { numRuns: 50 },
  )
})

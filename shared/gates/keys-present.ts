import * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { quoted } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const KeysPresentSchema = z.strictObject({
  port: PortNameSchema,
  keys: z.array(z.string().min(1).max(200)).min(1).max(100),
})
type KeysPresent = z.infer<typeof KeysPresentSchema>

export const keysPresent: Gate<KeysPresent> = {
  type: 'keys_present',
  summary:
    'Passes when the object of the port, or each object of its list, has every key with a value that is not null.',
  params: KeysPresentSchema,
  reads: ({ port }) => [port],
  judges: () => [],
  examples: [
    { check: { port: 'row', keys: ['id', 'name'] }, outputs: { row: { id: 1, name: '' } }, passes: true },
    { check: { port: 'rows', keys: ['id'] }, outputs: { rows: [{ id: 1 }, { id: null }] }, passes: false },
  ],
  check,
}

function check({ port, keys }: KeysPresent, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (typeof value !== 'object' || value === null) return wrongType(port, 'an object or a list of objects', value)
  const isList = Array.isArray(value)
  const items: readonly Json[] = isList ? value : [value]
  if (items.length === 0) {
    return { passed: false, unfit: true, reason: `port ${port} is an empty list`, facts: { port } }
  }
  for (const [at, item] of items.entries()) {
    const missing = keys.filter((key) => !has(item, key))
    if (missing.length === 0) continue
    const where = isList ? ` in item ${at}` : ''
    return {
      passed: false,
      reason: `must have the keys ${quoted(missing)}${where}`,
      facts: { port, missing, item: at },
    }
  }
  return { passed: true, reason: `has the keys ${quoted(keys)}`, facts: { port, items: items.length } }
}

function has(item: Json, key: string): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || !Object.hasOwn(item, key)) return false
  const value = (item as Readonly<Record<string, Json>>)[key]
  return value !== null && value !== undefined
}

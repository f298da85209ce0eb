import * as z from 'zod'
import { readYaml } from '../dag/yaml.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { oneSentence } from './one-sentence.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'

const ValidYamlSchema = z.strictObject({ port: PortNameSchema })
type ValidYaml = z.infer<typeof ValidYamlSchema>

/** YAML as our own documents may be (at most 256 KiB, no aliases, no custom tags). */
export const validYaml: Gate<ValidYaml> = {
  type: 'valid_yaml',
  summary: 'Passes when the text of the port is one YAML document of plain values, without aliases and custom tags.',
  params: ValidYamlSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'config' }, outputs: { config: 'name: demo\nsteps: [a, b]\n' }, passes: true },
    { check: { port: 'config' }, outputs: { config: 'name: demo\n  steps: [a, b\n' }, passes: false },
  ],
  check,
}

function check({ port }: ValidYaml, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'YAML text', text)
  const read = readYaml(text)
  if (read.ok) return { passed: true, reason: 'is YAML', facts: { port } }
  const [first] = read.problems
  // Beyond its limits a text is not read to the end, so nobody knows that it is no YAML.
  const unfit = first?.code === 'limit_exceeded' ? { unfit: true as const } : {}
  const why = first?.say({ who: 'the text', place: first.path.join('.') || 'the text' }).text ?? 'it cannot be read'
  return { passed: false, ...unfit, reason: `port ${port} must be YAML: ${oneSentence(why, 200)}`, facts: { port } }
}

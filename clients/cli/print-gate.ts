import { suggest } from '../../shared/dag/suggest.ts'
import { describeGates, type GateDescription } from '../../shared/gates/describe-gates.ts'
import { jsonText } from './json-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'

export interface NewGateOptions {
  readonly type: string
  readonly port?: string
  readonly json?: true
}

/** `sluice new gate NAME`: a gate that holds for one of its type's examples. */
export function printGate(session: Session, name: string, { type, port, json }: NewGateOptions): void {
  const found = findType(type)
  const example = found.examples.find(({ passes }) => passes) ?? found.examples[0]
  const { properties = {} } = found.params as { readonly properties?: object }
  const named = port !== undefined && 'port' in properties ? { port } : {}
  const check = { type, ...example?.check, ...named }
  const gate = { name, check, error: `${name} does not hold`, on_fail: 'retry' }
  if (json === true) {
    session.say(jsonText({ gate, type }, 2))
    return
  }
  const lines = [
    `# ${found.summary}`,
    '# Change the values of the check; on_fail: retry, fail, warn, route or ask.',
    `- name: ${jsonText(name)}`,
    `  check: ${jsonText(check)}`,
    `  error: ${jsonText(gate.error)}`,
    '  on_fail: retry',
    `# ${session.settings.command} gates explain ${type} has every parameter and more examples.`,
  ]
  for (const line of lines) session.say(line)
}

function findType(type: string): GateDescription {
  const known = describeGates()
  const found = known.find((gate) => gate.type === type)
  if (found !== undefined) return found
  const types = known.map((gate) => gate.type)
  const near = suggest(type, types)
  throw usage(
    `There is no gate type "${type}". ${near === undefined ? '`sluice gates list` has all.' : `Did you mean "${near}"?`}`,
  )
}

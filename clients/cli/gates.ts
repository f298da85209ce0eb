import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { suggest } from '../../shared/dag/suggest.ts'
import { describeGates } from '../../shared/gates/describe-gates.ts'
import { explainGate } from '../../shared/gates/explain-gate.ts'
import { jsonText } from './json-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'

/** `sluice gates list`, `explain` and `check`; none needs a server. */
export function addGates(parent: Command, session: Session): void {
  const gates = parent.command('gates').description('gate types, and checks without a server')
  gates
    .command('list')
    .description('every gate type with its parameters')
    .option('--json', 'print JSON, with the JSON Schema of the parameters')
    .action((options: { readonly json?: true }) => list(session, options))
  gates
    .command('explain')
    .argument('<type>', 'name of the gate type')
    .description('one gate type: what it decides, its parameters, examples')
    .action((type: string) => explain(session, type))
  gates
    .command('check')
    .description(
      'judge lines {"id","check","inputs","outputs","measured"} from stdin; exit code 0 when all were answered',
    )
    .option('--ndjson', 'the form of stdin and stdout (the only one there is)')
    .action((options: { readonly ndjson?: true }) => check(options))
}

function list(session: Session, options: { readonly json?: true }): void {
  const types = describeGates()
  if (options.json === true) session.say(jsonText(types, 2))
  else for (const gate of types) session.say(`${gate.type}  ${parameterNames(gate.params)}\n    ${gate.summary}`)
}

function explain(session: Session, type: string): void {
  const known = describeGates()
  const found = known.find((gate) => gate.type === type)
  if (found !== undefined) {
    session.say(explainGate(found))
    return
  }
  const types = known.map((gate) => gate.type)
  const near = suggest(type, types)
  const hint = near === undefined ? `Known types: ${types.join(', ')}.` : `Did you mean "${near}"?`
  throw usage(`There is no gate type ${JSON.stringify(type)}. ${hint}`)
}

/** Names as a document writes them; a question mark where one may be left out. */
function parameterNames({ properties, required }: Readonly<Record<string, unknown>>): string {
  const needed = new Set(Array.isArray(required) ? required : [])
  const names = Object.keys((properties ?? {}) as object)
  return names.map((name) => (needed.has(name) ? name : `${name}?`)).join(' ')
}

/** json_schema checks run in the place's isolate: its program answers, on this process's own stdin and stdout. */
async function check(options: { readonly ndjson?: true }): Promise<void> {
  if (options.ndjson !== true) throw usage('Say --ndjson: checks come as lines on stdin, one JSON object a line.')
  const program = fileURLToPath(new URL('../../infra/local/check-gates.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
}

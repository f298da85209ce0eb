import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import type { ListOptions } from './gate-types.ts'

/** `sluice gates list`, `explain` and `check`; none needs a server. */
export function addGates(parent: Command, session: Session): void {
  const gates = parent.command('gates').description('gate types, and checks without a server')
  gates
    .command('list')
    .description('every gate type with its parameters, and the gates of tasks that sluice.yaml here configures')
    .option('--configured', 'only the configured gates')
    .option('--json', 'print JSON: the types with the JSON Schema of the parameters, or the configured gates')
    .action(async (options: ListOptions) => {
      const { listGates } = await import('./gate-types.ts')
      listGates(session, options)
    })
  gates
    .command('explain')
    .argument('<type>', 'name of the gate type, or not, any_of, all_of, at_least')
    .description('one gate type: what it decides, its parameters, examples; or how checks are composed')
    .action(async (type: string) => {
      const { explainType } = await import('./gate-types.ts')
      explainType(session, type)
    })
  gates
    .command('check')
    .description(
      'judge lines {"id","check","inputs","outputs","measured"} from stdin, with "recorded" replay a verdict; exit code 0 when all were answered',
    )
    .option('--ndjson', 'the form of stdin and stdout (the only one there is)')
    .action((options: { readonly ndjson?: true }) => check(options))
}

/** json_schema checks run in the place's isolate: its program answers, on this process's own stdin and stdout. */
async function check(options: { readonly ndjson?: true }): Promise<void> {
  if (options.ndjson !== true) throw usageError('Say --ndjson: checks come as lines on stdin, one JSON object a line.')
  const program = fileURLToPath(new URL('../../../infra/local/check-gates.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { type PlanOptions, wholeNumber, withPlanOptions } from '../terminal/options.ts'
import { usage } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import type { PrintOptions } from './compile.ts'
import type { ListOptions } from './gate-types.ts'
import type { ValidateOptions } from './validate.ts'

export function addValidate(parent: Command, session: Session): void {
  parent
    .command('validate')
    .description('check documents without a server; exit code 100 when one has errors')
    .argument('[files...]', 'default: sluice.yaml, if there is one, and every dags/*.yaml')
    .option('--json', 'print JSON')
    .option('--ndjson', 'read lines {"id","yaml"} from stdin, answer a line each; exit code 0 when all were answered')
    .action(async (files: readonly string[], options: ValidateOptions) => {
      const { validateFiles } = await import('./validate.ts')
      await validateFiles(session, files, options)
    })
}

export function addCompile(parent: Command, session: Session): void {
  parent
    .command('compile')
    .description('print the state machine of a document (ASL); a function stands in it as a placeholder')
    .argument('<file>')
    .option('--json', 'print it as one line, exactly the text that is deployed')
    .option('--part <k>', 'print part k: a document too large for one machine is several', wholeNumber(1, 1_000))
    .action(async (file: string, options: PrintOptions) => {
      const { printMachine } = await import('./compile.ts')
      printMachine(session, file, options)
    })
}

export function addPlan(parent: Command, session: Session): void {
  withPlanOptions(parent.command('plan').description(ABOUT))
    .argument('[file]')
    .option('--cost', 'print only what 1,000 runs cost, a line each thing AWS bills')
    .action(async (file: string | undefined, options: PlanOptions & { readonly cost?: true }) => {
      const { planDocument } = await import('./plan.ts')
      await planDocument(session, file, options)
    })
}

const ABOUT = 'say what runs of a document will do, without a server: time, states, joins, costs, limits'

interface SchemaOptions {
  readonly settings?: true
  readonly json?: true
}

export function addSchema(parent: Command, session: Session): void {
  parent
    .command('schema')
    .description('print the JSON Schema of a DAG document, for editors and other programs')
    .option('--settings', 'that of sluice.yaml instead')
    .option('--json', 'print it as one line')
    .action(async ({ settings, json }: SchemaOptions) => {
      const schema = settings === true ? await schemaOfSettings() : await schemaOfDocuments()
      session.say(jsonText(schema, json ? undefined : 2))
    })
}

async function schemaOfSettings() {
  const { settingsSchema } = await import('../../../shared/settings/json-schema.ts')
  return settingsSchema()
}

async function schemaOfDocuments() {
  const { documentSchema } = await import('../../../shared/document/schema.ts')
  return documentSchema()
}

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
  if (options.ndjson !== true) throw usage('Say --ndjson: checks come as lines on stdin, one JSON object a line.')
  const program = fileURLToPath(new URL('../../../infra/local/check-gates.ts', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  process.exitCode = typeof code === 'number' ? code : 1
}

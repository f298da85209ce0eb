import { type Command, Option } from 'commander'
import { type PlanOptions, wholeNumber, withPlanOptions } from '../terminal/options.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'
import type { PrintOptions } from './compile-and-draw.ts'
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
      const { printMachine } = await import('./compile-and-draw.ts')
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
  readonly tests?: true
  readonly eval?: true
  readonly events?: true
  readonly json?: true
}

export function addSchema(parent: Command, session: Session): void {
  parent
    .command('schema')
    .description('print the JSON Schema of a DAG document, for editors and other programs')
    .option('--settings', 'that of sluice.yaml instead')
    .addOption(new Option('--tests', 'that of a file of cases of `sluice test` instead').conflicts('settings'))
    .addOption(new Option('--eval', 'that of an evaluation instead').conflicts(['settings', 'tests']))
    .addOption(
      new Option('--events', 'that of messages about events instead, of webhooks and buses').conflicts([
        'settings',
        'tests',
        'eval',
      ]),
    )
    .option('--json', 'print it as one line')
    .action(async ({ json, ...of }: SchemaOptions) => {
      const schema = await schemaFor(of)
      session.say(jsonText(schema, json ? undefined : 2))
    })
}

function schemaFor({ settings, tests, eval: ofEval, events }: SchemaOptions): Promise<unknown> {
  if (settings === true) return schemaOfSettings()
  if (tests === true) return schemaOfCases()
  if (events === true) return schemaOfEvents()
  return ofEval === true ? schemaOfEvals() : schemaOfDocuments()
}

async function schemaOfSettings() {
  const { settingsSchema } = await import('../../../shared/settings/json-schema.ts')
  return settingsSchema()
}

async function schemaOfEvents() {
  const { messageSchema } = await import('../../../shared/webhooks/event-schema.ts')
  return messageSchema()
}

async function schemaOfCases() {
  const { casesSchema } = await import('../../../shared/cases/case-file.ts')
  return casesSchema()
}

async function schemaOfEvals() {
  const { evalJsonSchema } = await import('../../../shared/evals/eval-file.ts')
  return evalJsonSchema()
}

async function schemaOfDocuments() {
  const { documentSchema } = await import('../../../shared/document/json-schema.ts')
  return documentSchema()
}

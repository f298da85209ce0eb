import type { Command } from 'commander'
import { documentSchema } from '../../shared/dag/document-schema.ts'
import { settingsSchema } from '../../shared/settings-schema.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'

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
    .action(({ settings, json }: SchemaOptions) => {
      const schema = settings === true ? settingsSchema() : documentSchema()
      session.say(jsonText(schema, json ? undefined : 2))
    })
}

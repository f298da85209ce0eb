import type { Command } from 'commander'
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
    .action(async ({ settings, json }: SchemaOptions) => {
      const schema = settings === true ? await schemaOfSettings() : await schemaOfDocuments()
      session.say(jsonText(schema, json ? undefined : 2))
    })
}

async function schemaOfSettings() {
  const { settingsSchema } = await import('../../shared/settings-schema.ts')
  return settingsSchema()
}

async function schemaOfDocuments() {
  const { documentSchema } = await import('../../shared/dag/document-schema.ts')
  return documentSchema()
}

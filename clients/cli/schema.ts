import type { Command } from 'commander'
import { documentSchema } from '../../shared/dag/document-schema.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'

export function addSchema(parent: Command, session: Session): void {
  parent
    .command('schema')
    .description('print the JSON Schema of a DAG document, for editors and other programs')
    .option('--json', 'print it as one line')
    .action((options: { readonly json?: true }) =>
      session.say(jsonText(documentSchema(), options.json ? undefined : 2)),
    )
}

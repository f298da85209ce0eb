import type { Command } from 'commander'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { jsonText } from './json-text.ts'
import { readDagFile, refusing } from './read-dag-file.ts'
import type { Session } from './session.ts'

export function addCompile(parent: Command, session: Session): void {
  parent
    .command('compile')
    .description('print the state machine of a document (ASL); a function stands in it as a placeholder')
    .argument('<file>')
    .option('--json', 'print it as one line, exactly the text that is deployed')
    .action((file: string, options: { readonly json?: true }) => compile(session, file, options))
}

function compile(session: Session, file: string, options: { readonly json?: true }): void {
  const dag = readDagFile(file, 'compile')
  const { definition, text } = refusing(() => compileDag(dag))
  session.say(options.json === true ? text : jsonText(definition, 2))
}

import { basename } from 'node:path'
import type { Command } from 'commander'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import { knownProviders } from './check-files.ts'
import { jsonText } from './json-text.ts'
import { readFile } from './read-file.ts'
import { Refused } from './refused.ts'
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
  const name = basename(file).replace(/\.ya?ml$/, '')
  const parsed = parseDag(readFile(file, 'DAG file'), { name, providers: knownProviders() })
  if (!parsed.ok) {
    const detail = `Cannot compile "${file}": it has errors.`
    throw new Refused({ code: 'invalid_dag', detail, errors: parsed.errors }, { exitCode: 100 })
  }
  const { definition, text } = compileDag(parsed.dag)
  session.say(options.json === true ? text : jsonText(definition, 2))
}

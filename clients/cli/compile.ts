import type { Command } from 'commander'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { jsonText } from './json-text.ts'
import { readDagFile, refusing } from './read-dag-file.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { wholeNumber } from './whole-number.ts'

export function addCompile(parent: Command, session: Session): void {
  parent
    .command('compile')
    .description('print the state machine of a document (ASL); a function stands in it as a placeholder')
    .argument('<file>')
    .option('--json', 'print it as one line, exactly the text that is deployed')
    .option('--part <k>', 'print part k: a document too large for one machine is several', wholeNumber(1, 1_000))
    .action((file: string, options: Options) => compile(session, file, options))
}

interface Options {
  readonly json?: true
  readonly part?: number
}

function compile(session: Session, file: string, { json, part }: Options): void {
  const dag = readDagFile(file, 'compile')
  const compiled = refusing(() => compileDag(dag))
  const shown = part === undefined ? compiled : compiled.parts[part - 1]
  if (shown === undefined) throw noPart(file, part, compiled.parts.length)
  session.say(json === true ? shown.text : jsonText(shown.definition, 2))
}

function noPart(file: string, part: number | undefined, parts: number) {
  const has = parts === 0 ? 'is one machine and has no parts' : `has parts 1 to ${parts}`
  return usage(`Cannot print part ${part}: "${file}" ${has}.`)
}

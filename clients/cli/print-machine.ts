import { compileDag } from '../../shared/compile/compile-dag.ts'
import { jsonText } from './json-text.ts'
import { readDagFile, refusing } from './read-dag-file.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'

export interface PrintOptions {
  readonly json?: true
  readonly part?: number
}

/** `sluice compile FILE`: a whole machine or a part of it. */
export function printMachine(session: Session, file: string, { json, part }: PrintOptions): void {
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

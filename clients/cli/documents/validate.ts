import * as z from 'zod'
import { triggersOf } from '../../../shared/document/trigger-section.ts'
import type { DagError } from '../../../shared/text/document-problems.ts'
import { triggerLoops } from '../../../shared/triggers/run-loops.ts'
import { answerEachLine, lineId, NdjsonLineSchema } from '../terminal/answer-ndjson-lines.ts'
import { readFile } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { Refused, reasonLines, usageError, withoutDocumentName } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { type CheckedFile, checkFile, documentName, filesToCheck, parseHere, stepsOfFiles } from './document-files.ts'

export interface ValidateOptions {
  readonly json?: true
  readonly ndjson?: true
}

/** `sluice validate`: without files those of this folder. */
export async function validateFiles(
  session: Session,
  files: readonly string[],
  options: ValidateOptions,
): Promise<void> {
  if (options.ndjson === true) {
    if (files.length > 0)
      throw usageError('Give files or --ndjson, not both: with --ndjson the documents come on stdin.')
    return await validateLines(session)
  }
  const found = files.length > 0 ? files : filesToCheck()
  if (found.length === 0)
    throw usageError('Nothing to validate: there is no sluice.yaml and no dags/*.yaml here. Name a file.')
  const { checked, unreadable } = checkAll(found)
  const lines = options.json === true ? [jsonText(checked, 2)] : checked.flatMap(checkedLines).map(plainText)
  for (const line of lines) session.say(line)
  // One that cannot be read hides no other; the last of them ends the command, with exit code 2.
  for (const line of unreadable.slice(0, -1).flatMap(({ reason }) => reasonLines(reason))) session.warn(line)
  const last = unreadable.at(-1)
  if (last !== undefined) throw last
  process.exitCode = checked.every(({ valid }) => valid) ? 0 : 100
}

function checkAll(files: readonly string[]) {
  const checked: CheckedFile[] = []
  const unreadable: Refused[] = []
  const steps = stepsOfFiles(files)
  for (const file of files) {
    try {
      checked.push(checkFile(file, steps))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      unreadable.push(error)
    }
  }
  return { checked: withTriggerLoops(checked), unreadable }
}

/** Documents that start each other are each sound: only together they are a loop. */
function withTriggerLoops(checked: readonly CheckedFile[]): readonly CheckedFile[] {
  const documents = checked
    .filter(({ valid, order }) => valid && order.length > 0)
    .map(({ file }) => ({ file, name: documentName(file), ...triggersOf(readFile(file, 'file')) }))
  const loops = triggerLoops(documents)
  if (loops.length === 0) return checked
  return checked.map((one) => {
    const errors = loops
      .filter(({ document }) => document === documentName(one.file))
      .map(({ document, index, text }) => {
        const path = `triggers[${index}].run.dag`
        const message = `Cannot compile DAG "${document}": ${path} ${text}. Take one of these triggers away.`
        return { code: 'trigger_loop', path, message }
      })
    return errors.length === 0 ? one : { ...one, valid: false, errors, order: [] }
  })
}

/** `line:column  code  message`; a path where there is no line. What all messages begin with stands in the head. */
function checkedLines({ file, valid, errors, warnings, order }: CheckedFile): readonly string[] {
  const blocks = order.length === 0 ? '' : `: ${order.join(', ')}`
  const head = valid ? `${file} is valid${blocks}` : `${file} has ${count(errors.length, 'error')}:`
  return [
    head,
    ...errors.map((error) => `  ${positionWords(error)}  ${error.code}  ${messageOf(error)}`),
    ...warnings.map(({ path, code, message }) => `  warning  ${path}  ${code}  ${message}`),
  ]
}

function positionWords({ line, column, path }: DagError): string {
  return line === undefined ? path || '-' : `${line}:${column ?? 1}`
}

/** A document's errors carry their hint in the message, those of sluice.yaml do not. */
function messageOf({ message, hint }: DagError): string {
  return hint === undefined || message.includes(hint)
    ? withoutDocumentName(message)
    : `${withoutDocumentName(message)} (${hint})`
}

/**
 * `sluice validate --ndjson`: a line {"id","yaml"} in, a line {"id","valid","errors","order"} out, in the same order
 * and at once, so that a tool may keep the process and ask as it goes. Every error has all six members, null where
 * there is no such place or hint. A line that cannot be read is answered with code malformed_line; the rest goes on.
 */
async function validateLines(session: Session): Promise<void> {
  await answerEachLine(session, answer)
}

const LineSchema = NdjsonLineSchema.extend({ yaml: z.string() })

function answer(value: unknown, number: number) {
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "yaml": string} is needed.`
    return {
      id: lineId(value),
      valid: false,
      errors: [whole({ code: 'malformed_line', path: '', message })],
      order: [],
    }
  }
  const { id, yaml } = asked.data
  const parsed = parseHere(yaml, { name: String(id) })
  if (parsed.ok) return { id, valid: true, errors: [], order: parsed.order }
  return { id, valid: false, errors: parsed.errors.map(whole), order: [] }
}

function whole({ code, path, line, column, message, hint }: DagError) {
  return { code, path, line: line ?? null, column: column ?? null, message, hint: hint ?? null }
}

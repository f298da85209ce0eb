import { writeFileSync } from 'node:fs'
import type { Command, CommandOptions } from 'commander'
import { Option } from 'commander'
import { chooseTarget } from './api.ts'
import { exportRun } from './export-run.ts'
import { jsonText } from './json-text.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'
import { count, sizeWords } from './words.ts'

interface ExportOptions extends TargetOptions {
  readonly output?: string
  readonly maxMib: number
}

/** Left-out values that are named; the file names them all. */
const NAMED = 10

export function addExport(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'a run as one JSON file: how it stands, its document, events and seal, artifacts and outputs'
  const most = new Option('--max-mib <n>', 'room for values and artifacts, in MiB; what does not fit is named')
  withTarget(parent.command('export', hidden).description(words))
    .argument('<run-id>')
    .option('-o, --output <file>', 'write it there (default: print it)')
    .addOption(most.argParser(wholeNumber(0, 1_024)).default(64))
    .action((runId: string, options: ExportOptions) => saveRun(session, runId, options))
}

async function saveRun(session: Session, runId: string, { url, output, maxMib, json }: ExportOptions): Promise<void> {
  const file = await exportRun(chooseTarget(session, url), runId, maxMib * 1_048_576)
  const { left_out, events, objects, ...rest } = file
  for (const { what, why } of left_out.slice(0, NAMED)) session.warn(`Left out: ${what} (${why})`)
  if (left_out.length > NAMED) session.warn(`Left out: ${count(left_out.length - NAMED, 'more value')}`)
  const text = jsonText(file, 2)
  if (output === undefined) return void (await session.write(`${text}\n`))
  writeTo(output, `${text}\n`)
  const sizes = { bytes: Buffer.byteLength(text), events: events.length, objects: Object.keys(objects).length }
  if (json === true) session.say(jsonText({ file: output, ...sizes, seal: rest.seal, left_out }, 2))
  else {
    const held = `${count(sizes.events, 'event')}, ${count(sizes.objects, 'object')}`
    session.say(`Run ${runId} is in ${output}: ${held}, ${sizeWords(sizes.bytes)}.`)
  }
}

function writeTo(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error)
    throw new Refused(
      { code: 'unwritable_file', detail: `Cannot write "${path}": ${seen}.` },
      { exitCode: 2, cause: error },
    )
  }
}

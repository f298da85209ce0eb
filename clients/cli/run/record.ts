import { writeFileSync } from 'node:fs'
import type { Command, CommandOptions } from 'commander'
import { RECORD_RUN } from '../../../shared/api/verify-routes.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { sizeWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'

interface RecordOptions extends TargetOptions {
  readonly output?: string
}

export function addRecord(parent: Command, session: Session, hidden?: CommandOptions): void {
  const words = 'record what the providers of an ended run answered, for a provider of type replay'
  withReadingOptions(parent.command('record', hidden).description(words))
    .argument('<run-id>')
    .option('-o, --output <file>', 'write the recording there')
    .action((runId: string, options: RecordOptions) => record(session, runId, options))
}

/** The ref is what `record:` of a deployed stage takes; the file is for the local place. */
async function record(session: Session, runId: string, { url, json, output }: RecordOptions): Promise<void> {
  const target = chooseTarget(session, url)
  const { recording, ...made } = await callApi(target, RECORD_RUN.answer, (api) =>
    api.GET('/api/dag/runs/{run_id}/recording', { params: { path: { run_id: runId } } }),
  )
  if (output !== undefined) {
    if (recording === undefined) throw tooLarge(made.bytes, made.ref)
    writeRecording(output, jsonText(recording, 2))
  }
  if (json === true) return session.say(jsonText(output === undefined ? { ...made, recording } : made, 2))
  const where = output === undefined ? '' : ` in ${output}`
  session.say(
    `${made.calls} recorded ${made.calls === 1 ? 'answer' : 'answers'}${where}, ${sizeWords(made.bytes)}. Object: ${made.ref}`,
  )
}

function tooLarge(bytes: number, ref: string): Refused {
  const detail = `The recording is ${sizeWords(bytes)}, more than one answer carries. Use its object: record: ${ref}`
  return new Refused({ code: 'recording_too_large', detail })
}

function writeRecording(file: string, text: string): void {
  try {
    writeFileSync(file, `${text}\n`)
  } catch (cause) {
    const detail = `Cannot write "${file}": ${cause instanceof Error ? cause.message : String(cause)}.`
    throw new Refused({ code: 'unwritable_file', detail }, { exitCode: 2, cause })
  }
}

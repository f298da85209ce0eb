import { writeFileSync } from 'node:fs'
import type { Command, CommandOptions } from 'commander'
import { chooseTarget } from './api.ts'
import { fetchArtifact } from './artifacts.ts'
import { jsonText } from './json-text.ts'
import { plainText } from './plain-text.ts'
import { Refused, usage } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { sizeWords } from './words.ts'

interface ArtifactOptions extends TargetOptions {
  readonly output?: string
}

export function addArtifact(parent: Command, session: Session, hidden?: CommandOptions): void {
  withTarget(parent.command('artifact', hidden).description('print an artifact of a run, or write it to a file'))
    .argument('<run-id>')
    .argument('<name>', 'as `run status` lists it')
    .option('-o, --output <file>', 'write it there')
    .action((runId: string, name: string, options: ArtifactOptions) => artifact(session, runId, name, options))
}

/** A pipe gets the bytes as they are; a terminal gets text only, without what it would obey. */
async function artifact(session: Session, runId: string, name: string, options: ArtifactOptions): Promise<void> {
  const { body, type, item } = await fetchArtifact(chooseTarget(session, options.url), runId, name)
  if (options.output !== undefined) writeTo(options.output, body)
  if (options.json === true) return session.say(jsonText(item, 2))
  if (options.output !== undefined) return session.say(`Wrote ${options.output} (${sizeWords(body.byteLength)}).`)
  if (!session.terminal) return await session.write(body)
  if (!/^text\/|json|yaml|xml/.test(type))
    throw usage(`"${name}" is no text (${type}): write it to a file with -o FILE.`)
  session.say(plainText(new TextDecoder().decode(body)))
}

function writeTo(file: string, body: Uint8Array): void {
  try {
    writeFileSync(file, body)
  } catch (cause) {
    const detail = `Cannot write "${file}": ${cause instanceof Error ? cause.message : String(cause)}.`
    throw new Refused({ code: 'unwritable_file', detail }, { exitCode: 2, cause })
  }
}

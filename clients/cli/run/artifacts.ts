import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command, CommandOptions } from 'commander'
import * as z from 'zod'
import { type Ask, callApi, chooseTarget, commandLine, fetchResponse, type Target } from '../server/api.ts'
import { sizeWords } from '../terminal/format.ts'
import { type TargetOptions, withReadingOptions } from '../terminal/options.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine, plainText } from '../terminal/text.ts'

interface ArtifactOptions extends TargetOptions {
  readonly output?: string
}

export function addArtifact(parent: Command, session: Session, hidden?: CommandOptions): void {
  withReadingOptions(
    parent.command('artifact', hidden).description('print an artifact of a run, or write it to a file'),
  )
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
    throw usageError(`"${name}" is no text (${type}): write it to a file with -o FILE.`)
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

/** A line an artifact: name, type, size and the command that prints it. */
export async function artifactLines(session: Session, target: Target, runId: string): Promise<readonly string[]> {
  const artifacts = await fetchArtifacts(target, runId)
  return artifacts.map(({ name, media_type, bytes }) => {
    const command = commandLine(session, target, `run artifact ${runId} ${name}`)
    return `Artifact ${name} (${oneLine(media_type)}, ${sizeWords(bytes)}): ${command}`
  })
}

/** One artifact of the run: its item, and its body. Refused unknown_artifact names those there are. */
async function fetchArtifact(target: Target, runId: string, name: string) {
  const response = await fetchResponse(target, askArtifact(runId, name))
  const body = new Uint8Array(await response.arrayBuffer())
  const item = (await fetchArtifacts(target, runId)).find((one) => one.name === name)
  return { body, type: response.headers.get('content-type') ?? '', item: { name, ...item } }
}

/** Writes every artifact of the run below `folder` and answers a line each. */
export async function saveArtifacts(target: Target, runId: string, folder: string): Promise<readonly string[]> {
  const saved: string[] = []
  for (const { name } of await fetchArtifacts(target, runId)) {
    const body = await fetchResponse(target, askArtifact(runId, name))
    const path = join(folder, ...name.split('/'))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, new Uint8Array(await body.arrayBuffer()))
    saved.push(`Artifact ${name}: ${path}`)
  }
  return saved
}

/** As handlers.ts lets a DAG name artifacts; checked again since the name becomes a path here. */
const ListSchema = z.looseObject({
  artifacts: z.array(
    z.looseObject({
      name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/),
      media_type: z.string(),
      bytes: z.int(),
    }),
  ),
})

async function fetchArtifacts(target: Target, runId: string) {
  const { artifacts } = await callApi(target, ListSchema, (api) =>
    api.GET('/api/dag/runs/{run_id}/artifacts', { params: { path: { run_id: runId } } }),
  )
  const escaping = artifacts.find(({ name }) => name.includes('..'))
  if (escaping === undefined) return artifacts
  throw new Refused({ code: 'bad_artifact_name', detail: `Cannot use artifact "${escaping.name}": it has ".." in it.` })
}

/** The body of one artifact. */
export function askArtifact(run_id: string, name: string): Ask {
  return (api) => api.GET('/api/dag/runs/{run_id}/artifacts/{name}', { params: { path: { run_id, name } } })
}

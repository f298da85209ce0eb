import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { callApi, openApi, type Target } from './api.ts'
import { askArtifact } from './ask-artifact.ts'
import { commandLine } from './command-line.ts'
import { oneLine } from './plain-text.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { sizeWords } from './words.ts'

/** A line an artifact: name, type, size and the command that prints it. */
export async function artifactLines(session: Session, target: Target, runId: string): Promise<readonly string[]> {
  const artifacts = await fetchArtifacts(target, runId)
  return artifacts.map(({ name, media_type, bytes }) => {
    const command = commandLine(session, target, `run artifact ${runId} ${name}`)
    return `Artifact ${name} (${oneLine(media_type)}, ${sizeWords(bytes)}): ${command}`
  })
}

/** One artifact of the run: its item, and its body. Refused unknown_artifact names those there are. */
export async function fetchArtifact(target: Target, runId: string, name: string) {
  const response = await openApi(target, askArtifact(runId, name))
  const body = new Uint8Array(await response.arrayBuffer())
  const item = (await fetchArtifacts(target, runId)).find((one) => one.name === name)
  return { body, type: response.headers.get('content-type') ?? '', item: { name, ...item } }
}

/** Writes every artifact of the run below `folder` and answers a line each. */
export async function saveArtifacts(target: Target, runId: string, folder: string): Promise<readonly string[]> {
  const saved: string[] = []
  for (const { name } of await fetchArtifacts(target, runId)) {
    const body = await openApi(target, askArtifact(runId, name))
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

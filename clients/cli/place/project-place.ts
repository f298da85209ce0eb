import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/** Where the project in the working folder keeps its runs, and where its place answers. */
export interface ProjectPlace {
  readonly dataDir: string
  /** Of the place that is open on that folder, else of the port that sluice.yaml names. */
  readonly url: string
  /** It is open for one command, and ends with it. */
  readonly inside: boolean
}

/** As sluice.yaml of the working folder says, or as its place told when it began to listen. */
export async function findProjectPlace(): Promise<ProjectPlace> {
  const { port, data_dir: dataDir } = await folderAndPort()
  const open = openPlaceOf(dataDir)
  // A port that is chosen at each start is known from that start alone.
  const url = open?.url ?? `http://127.0.0.1:${port === 0 ? DEFAULTS.port : port}`
  return { dataDir, url, inside: open?.inside ?? false }
}

const DEFAULTS = { port: 4040, data_dir: '.sluice' }

/** Most settings name neither: then nothing of what reads them is loaded. */
async function folderAndPort(): Promise<typeof DEFAULTS> {
  const isNamed = /^\s*["']?(data_dir|port)\b|[{,]\s*["']?(data_dir|port)\b/m.test(readIfMine('sluice.yaml') ?? '')
  return isNamed ? (await import('../documents/settings-file.ts')).settingsOrDefaults() : DEFAULTS
}

const AddressSchema = z.looseObject({
  url: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  pid: z.int().positive(),
  inside: z.boolean().default(false),
})

/** What infra/local/place.ts wrote there; a place that was killed left it behind. */
function openPlaceOf(dataDir: string): z.infer<typeof AddressSchema> | undefined {
  try {
    const told = AddressSchema.parse(JSON.parse(readIfMine(join(dataDir, 'address')) ?? ''))
    process.kill(told.pid, 0)
    return told
  } catch {
    return undefined
  }
}

/** A data folder of somebody else's is closed, and so is none of ours. */
export function readIfMine(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  } catch {
    return undefined
  }
}

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseDag } from '../shared/document/parse.ts'
import { GALLERY, type GalleryEntry } from './gallery/gallery-entries.ts'
import { galleryPage, type Shown } from './gallery/gallery-page.ts'
import { runEntry } from './gallery/run-entry.ts'

/** `npm run docs:gallery`: runs every shipped document and writes docs/gallery.md. Takes half a minute. */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'sluice-gallery-'))

const MAX_ARTIFACT_LINES = 16

const shown = new Map<string, Shown>()
for (const entry of GALLERY) shown.set(entry.name, await showRun(entry))
writeFileSync(join(root, 'docs', 'gallery.md'), galleryPage(documents(), shown))
rmSync(folder, { recursive: true, force: true })
process.stdout.write(`Wrote docs/gallery.md: ${shown.size} documents.\n`)

async function showRun(entry: GalleryEntry): Promise<Shown> {
  const cwd = join(folder, entry.name)
  const lines = await runEntry(entry, cwd)
  return { lines, artifact: artifactOf(entry, cwd) }
}

function artifactOf({ artifact }: GalleryEntry, cwd: string): readonly string[] {
  if (artifact === undefined) return []
  const runs = join(cwd, '.sluice', 'artifacts')
  const [run = ''] = readdirSync(runs)
  const lines = readFileSync(join(runs, run, artifact), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.slice(0, MAX_ARTIFACT_LINES).map((line) => (line.length > 200 ? `${line.slice(0, 200)} ..` : line))
}

function documents() {
  return new Map(
    GALLERY.flatMap(({ name }) => {
      const parsed = parseDag(readFileSync(join(root, 'dags', `${name}.yaml`), 'utf8'), { name })
      return parsed.ok ? [[name, parsed.dag] as const] : []
    }),
  )
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bundleFunctions } from '../../infra/aws/bundle.ts'
import { readDeployedDags } from '../../infra/aws/deployed-dags.ts'
import { stageNames } from '../../infra/aws/names.ts'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { importBundle } from '../integration/aws/function-process.ts'

/**
 * Size of every Lambda's bundle and how long a fresh process needs to import it (median of ROUNDS): the part of a cold
 * start that is ours. On another machine than Lambda's, so compare the rows, not with AWS. `npm run bench:bundle`.
 */
const ROUNDS = 5
const ROOT = join(import.meta.dirname, '../..')

const built = mkdtempSync(join(tmpdir(), 'sluice-bundles-'))
try {
  const settings = readStageSettings(ROOT, { stage: 'dev' })
  const dags = readDeployedDags(join(ROOT, 'dags'), ROOT, settings)
  await bundleFunctions(built, { settings, dags, names: stageNames('dev') })
  process.stdout.write(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n`)
  process.stdout.write(`${'function'.padEnd(18)}${'KB'.padStart(7)}${'gzip'.padStart(7)}${'import ms'.padStart(11)}\n`)
  for (const { name } of FUNCTIONS) process.stdout.write(`${row(name)}\n`)
} finally {
  rmSync(built, { recursive: true, force: true })
}

function row(name: string): string {
  const code = readFileSync(join(built, name, 'index.mjs'))
  const times = Array.from({ length: ROUNDS }, () => importBundle(built, name).ms).sort((a, b) => a - b)
  const median = times[Math.floor(ROUNDS / 2)] ?? Number.NaN
  const kb = (bytes: number) => String(Math.round(bytes / 1_000)).padStart(7)
  return `${name.padEnd(18)}${kb(code.length)}${kb(gzipSync(code).length)}${median.toFixed(0).padStart(11)}`
}

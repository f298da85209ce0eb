import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import type { BundleParts } from '../../../infra/aws/bundle.ts'
import { onceARun } from '../once-a-run.ts'

export interface Bundled {
  /** `<built>/<name>/index.mjs`; shared with other tests, so only read. */
  readonly built: string
  metafile(): Metafile
}

/** One of each kind of function: what is asked of bundles every day. All take half a minute of a core. */
export const A_FEW = [
  'get-health',
  'get-config',
  'get-dag-schema',
  'list-runs',
  'get-outputs',
  'run-block',
  'net-gate',
  'shell-gate',
]

/** The bundles of these parts, of all functions or `only` some, made once in a test run. */
export async function bundled(parts: BundleParts, only?: readonly string[]): Promise<Bundled> {
  const dir = await onceARun({ bundles: parts, only }, async (making) => {
    const { bundleFunctions } = await import('../../../infra/aws/bundle.ts')
    const metafile = await bundleFunctions(join(making, 'functions'), parts, only)
    writeFileSync(join(making, 'meta.json'), JSON.stringify(metafile))
  })
  return {
    built: join(dir, 'functions'),
    metafile: () => JSON.parse(readFileSync(join(dir, 'meta.json'), 'utf8')),
  }
}

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

/** The bundles of these parts, made once in a test run: forty-five of them take seven seconds of a core. */
export async function bundled(parts: BundleParts): Promise<Bundled> {
  const dir = await onceARun({ bundles: parts }, async (making) => {
    const { bundleFunctions } = await import('../../../infra/aws/bundle.ts')
    const metafile = await bundleFunctions(join(making, 'functions'), parts)
    writeFileSync(join(making, 'meta.json'), JSON.stringify(metafile))
  })
  return {
    built: join(dir, 'functions'),
    metafile: () => JSON.parse(readFileSync(join(dir, 'meta.json'), 'utf8')),
  }
}

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../integration/aws/assembly.ts'

/**
 * The build of the release before this one, which the functions of this one have to get on with (docs/adr/0092): a cloud assembly,
 * as `npm run synth` writes it. `SLUICE_EARLIER` names its folder, `SLUICE_EARLIER_REF` a commit to make it of; else it is made
 * of the newest tag `v*` of the repository's history. Where there is none, why.
 */
export type EarlierBuild = { readonly out: string } | { readonly missing: string }

export function earlierBuild(): EarlierBuild {
  const { SLUICE_EARLIER: out, SLUICE_EARLIER_REF: ref = newestTag() } = process.env
  if (out !== undefined && out !== '') return { out }
  if (ref === undefined)
    return { missing: 'no tag v* in the history here: name an earlier build with SLUICE_EARLIER or SLUICE_EARLIER_REF' }
  return { out: synthesizeCommit(ref) }
}

function newestTag(): string | undefined {
  try {
    return git('describe', '--tags', '--abbrev=0', '--match', 'v*')
  } catch {
    return undefined
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

/** Of its own sources, with the packages of here: those that a release pins are a matter of its own tests. */
function synthesizeCommit(ref: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-earlier-'))
  const sources = join(folder, 'sources')
  mkdirSync(sources)
  const archive = execFileSync('git', ['archive', ref], { cwd: ROOT, maxBuffer: 1_000_000_000 })
  execFileSync('tar', ['x', '-C', sources], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'), 'dir')
  const out = join(folder, 'out')
  execFileSync(process.execPath, ['infra/aws/main.ts'], {
    cwd: sources,
    env: { ...process.env, CDK_OUTDIR: out },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return out
}

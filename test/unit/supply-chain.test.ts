import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import about from '../../package.json' with { type: 'json' }
import { missingPackages, onlyPackages, runtimePackages } from '../../scripts/runtime-packages.ts'

/** What the program runs on: few, pinned, and free to use. */
const ROOT = resolve(import.meta.dirname, '../..')
const packages = runtimePackages(ROOT)

/** Licences that ask for a notice and nothing else. */
const ALLOWED = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'PSF-2.0',
])

test('every runtime package has a licence of the list', () => {
  const free = (licence: string) =>
    licence
      .replace(/[()]/g, '')
      .split(' OR ')
      .some((one) => ALLOWED.has(one))
  expect(packages.length).toBeGreaterThan(50)
  expect(packages.filter(({ licence }) => !free(licence))).toEqual([])
})

test('at most twenty-three direct runtime dependencies, those of AWS and smithy not counted, each pinned', () => {
  const direct = Object.entries(about.dependencies)
  const counted = direct.filter(([name]) => !/^@(aws-sdk|smithy|aws-lambda-powertools)\//.test(name))
  expect(counted.length).toBeLessThanOrEqual(23)
  expect(direct.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

test('an SBOM without a package, or with another version of it, is one that lacks it', () => {
  const [first, ...others] = packages
  if (first === undefined) throw new Error('no packages')
  const components = packages.map(({ name, version }) => ({ name, version }))
  expect(missingPackages({ components }, packages)).toEqual([])
  expect(missingPackages({ components: components.slice(1) }, packages)).toEqual([`${first.name}@${first.version}`])
  const other = [{ name: first.name, version: '0.0.0' }, ...components.slice(1)]
  expect(missingPackages({ components: other }, [first, ...others])).toHaveLength(1)
})

test('the SBOM of the program leaves development out, and nothing that both need', () => {
  const components = [...packages, { name: '@dev/only', version: '1.0.0' }].map(({ name, version }) => ({
    name,
    version,
    'bom-ref': `${name}@${version}`,
  }))
  const made = onlyPackages({ components, dependencies: [{ ref: '@dev/only@1.0.0' }] }, packages)
  expect(missingPackages(made, packages)).toEqual([])
  expect(made.components).toHaveLength(packages.length)
  expect(made.dependencies).toEqual([])
})

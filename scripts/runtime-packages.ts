import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package the installed program may load. */
export interface RuntimePackage {
  readonly name: string
  readonly version: string
  /** As its author wrote it: an SPDX expression. */
  readonly licence: string
}

interface Locked {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  /** A folder of ours, whose own row says the rest. */
  readonly link?: boolean
}

/** Of the lock file: all that is not for development alone, optional binaries of other platforms left out. */
export function runtimePackages(root: string): readonly RuntimePackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries<Locked>(packages).flatMap(([path, { version = '', license = 'none', ...how }]) => {
    const isLeft =
      path === '' || how.dev === true || how.link === true || how.optional === true || how.devOptional === true
    return isLeft ? [] : [{ name: path.replace(/^.*node_modules\//, ''), version, licence: license }]
  })
}

interface Component {
  readonly name?: string
  /** A scope may stand here. */
  readonly group?: string
  readonly version?: string
  readonly 'bom-ref'?: string
}

interface Sbom {
  readonly components: readonly Component[]
  readonly dependencies?: readonly { readonly ref: string }[]
}

/** The part about these packages. npm's own `--omit dev` leaves out, too, what a package for development needs as well. */
export function onlyPackages<Whole extends Sbom>(sbom: Whole, packages: readonly RuntimePackage[]): Whole {
  const wanted = new Set(packages.map(idOf))
  const left = sbom.components.filter((component) => !wanted.has(idOf(component))).map((one) => one['bom-ref'])
  const refs = new Set(left)
  return {
    ...sbom,
    components: sbom.components.filter((component) => !refs.has(component['bom-ref'])),
    ...(sbom.dependencies && { dependencies: sbom.dependencies.filter(({ ref }) => !refs.has(ref)) }),
  }
}

/** `name@version` of what the SBOM does not list. */
export function missingPackages({ components }: Sbom, packages: readonly RuntimePackage[]): readonly string[] {
  const listed = new Set(components.map(idOf))
  return packages.map(idOf).filter((id) => !listed.has(id))
}

function idOf({ group, name, version }: Component): string {
  return `${group === undefined ? name : `${group}/${name}`}@${version}`
}

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { ROUTES } from '../../shared/routes.ts'

/** The house rules no linter has (docs/adr/0002): arrows, names, and who may touch the outside. */
const ROOT = resolve(import.meta.dirname, '../..')
const ROOMS = ['shared', 'functions', 'infra', 'clients', 'scripts']

interface Source {
  readonly path: string
  readonly text: string
  /** Comments taken out: rules are about code. */
  readonly code: string
  readonly imports: readonly string[]
}

const sources: readonly Source[] = ROOMS.flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true }),
)
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.includes('.generated.'))
  // Packages a script installs beside it are nobody's house.
  .filter(({ parentPath }) => !parentPath.includes('node_modules'))
  .map((entry) => {
    const file = join(entry.parentPath, entry.name)
    const text = readFileSync(file, 'utf8')
    const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
    return {
      path: relative(ROOT, file),
      text,
      code,
      imports: importsOf(file, code),
    }
  })

const offenders = (rule: (source: Source) => unknown) => sources.filter(rule).map(({ path }) => path)
const within =
  (...rooms: readonly string[]) =>
  (path: string) =>
    rooms.some((room) => path.startsWith(room))

/** The floors of two rooms, what others stand on first (docs/architecture.md). Types count: who reads a type knows its owner. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  shared: [
    'errors.ts limits.ts aws-quotas.ts text auth ports services table',
    'goals dag steps tools graph research providers prompts gates egress runs search-runs spending agents triggers',
    'document catalog.ts compile plan approvals slack telemetry webhooks settings',
    'evals routes.ts api console invariants views world.ts cases',
  ].flatMap((names) => names.split(' ')),
  functions: [
    'handler.ts http-handler.ts require-run.ts record provider-call.ts provider-lease.ts provider-spending.ts watch-dispatch.ts search isolate egress providers gates telemetry steps mcp',
    'research runs triggers goals attempts approvals slack notify graph auth api erasure stage bulk aws',
  ].flatMap((names) => names.split(' ')),
}

/** Of the clients it alone opens a place itself: `sluice/testing` plays documents in the process of a test. */
const PLAYS_HERE = 'clients/sdk/testing.ts'

describe('arrows', () => {
  test.each<[string, readonly string[]]>([
    ['shared/', ['shared/']],
    ['functions/egress/', ['shared/', 'functions/egress/']],
    ['functions/providers/', ['shared/', 'functions/providers/', 'functions/egress/']],
    ['functions/isolate/', ['shared/', 'functions/isolate/']],
    ['functions/search/', ['shared/', 'functions/search/']],
    ['functions/', ['shared/', 'functions/']],
    ['functions/mcp/', ['shared/', 'functions/mcp/']],
    ['functions/slack/client/', ['shared/', 'functions/slack/client/']],
    ['functions/telemetry/', ['shared/', 'functions/telemetry/']],
    [
      'infra/local/',
      [
        'shared/',
        'infra/local/',
        'functions/providers/',
        'functions/egress/',
        'functions/isolate/',
        'functions/search/',
        'functions/slack/client/',
        'functions/telemetry/',
        'functions/steps/',
        'functions/mcp/',
        'infra/modules/',
      ],
    ],
    ['infra/modules/', ['shared/', 'infra/modules/', 'functions/steps/', 'functions/isolate/']],
    ['infra/aws/', ['shared/', 'infra/aws/', 'infra/modules/']],
    ['functions/steps/', ['shared/', 'functions/steps/']],
    ['clients/', ['shared/', 'clients/']],
    [PLAYS_HERE, ['shared/', 'infra/local/cases/']],
    ['scripts/', ['shared/', 'scripts/', 'clients/cli/', 'infra/local/']],
  ])('%s imports only from %j', (room, allowed) => {
    const bad = sources
      .filter(({ path }) => path.startsWith(room) && (room === PLAYS_HERE || path !== PLAYS_HERE))
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => ROOMS.some((other) => name.startsWith(`${other}/`)) && !within(...allowed)(name))
          .map((name) => `${path} -> ${name}`),
      )
    expect(bad).toEqual([])
  })

  test.each(Object.entries(FLOORS))(
    'in %s/ a folder, and a file beside the folders, reads those above it in the table',
    (room, floors) => {
      const floorOf = (path: string) => path.split('/')[1] ?? ''
      const inRoom = sources.filter(({ path }) => path.startsWith(`${room}/`))
      expect([...new Set(inRoom.map(({ path }) => floorOf(path)))].toSorted()).toEqual(floors.toSorted())
      const up = inRoom.flatMap(({ path, imports }) =>
        imports
          .filter(
            (name) => name.startsWith(`${room}/`) && floors.indexOf(floorOf(name)) > floors.indexOf(floorOf(path)),
          )
          .map((name) => `${path} -> ${name}`),
      )
      expect(up).toEqual([])
    },
  )

  test('nothing but functions/aws, infra/aws and clients/cli/aws imports AWS packages', () => {
    const may = within('functions/aws/', 'infra/aws/', 'clients/cli/aws/')
    expect(
      offenders(({ path, imports }) => !may(path) && imports.some((name) => name.startsWith('@aws-sdk/'))),
    ).toEqual([])
  })
})

describe('purity', () => {
  const node = /^node:/
  test('shared touches no clock, randomness, environment or Node module but node:crypto where hashes, cursors and addresses are made', () => {
    const inShared = ({ path }: Source) => path.startsWith('shared/')
    expect(offenders((source) => inShared(source) && OUTSIDE.test(source.code))).toEqual([])
    const uses = offenders((source) => inShared(source) && source.imports.some((name) => node.test(name)))
    expect(uses.toSorted()).toEqual([
      'shared/runs/callback-address.ts',
      'shared/runs/cursors.ts',
      'shared/slack/signature.ts',
      'shared/text/hash.ts',
      'shared/triggers/verify-message.ts',
      'shared/webhooks/signing.ts',
    ])
  })

  test('functions take clock, randomness and timers from the World, except adapters', () => {
    const adapter = within(
      'functions/providers/',
      'functions/isolate/',
      'functions/gates/',
      'functions/aws/',
      'functions/telemetry/',
      'functions/steps/',
      'functions/mcp/',
    )
    expect(
      offenders(({ path, code }) => path.startsWith('functions/') && !adapter(path) && OUTSIDE.test(code)),
    ).toEqual([])
  })

  test('the environment is read in at most one file a place', () => {
    const readers = offenders(({ path, code }) => !path.startsWith('scripts/') && /process\.env\b/.test(code))
    const rooms = readers.map((path) => path.split('/').slice(0, 2).join('/'))
    expect(new Set(rooms).size).toBe(rooms.length)
    expect(rooms.every((room) => ['infra/local', 'infra/aws', 'functions/aws', 'clients/cli'].includes(room))).toBe(
      true,
    )
  })
})

describe('files', () => {
  test('export something, or are started themselves', () => {
    const any = ({ code }: Source) => /^export /m.test(code)
    const started = /(^scripts\/|\/main\.tsx?$|[/-]worker\.ts$|\/(check-gates|describe-steps|run-step)\.ts$)/
    expect(offenders((source) => !any(source) && !started.test(source.path))).toEqual([])
  })

  test('have a word of the domain for a name', () => {
    const vague = /(^|\/)([a-z-]+-)?(utils?|helpers?|common|manager|service|misc)\.ts$|\/(types?|index)\.ts$/
    expect(offenders(({ path }) => vague.test(path))).toEqual([])
  })

  test('leave nothing unfinished or suppressed', () => {
    const words = new RegExp(['TO', 'DO|FIX', 'ME|HA', 'CK|@ts-ig', 'nore|@ts-ex', 'pect|biome-ig', 'nore'].join(''))
    expect(offenders(({ text }) => words.test(text))).toEqual([])
  })
})

describe('the catalog', () => {
  test('every function has its file, every route its function', () => {
    const paths = new Set(sources.map(({ path }) => path))
    expect(FUNCTIONS.filter(({ file }) => !paths.has(`functions/${file}`))).toEqual([])
    const names = new Set(FUNCTIONS.map(({ name }) => name))
    expect(ROUTES.filter(({ name }) => !names.has(name))).toEqual([])
  })

  test('the file of every function exports its handler, which nothing imports by name', () => {
    const hosts = new Set(
      sources
        .filter(({ code }) => /^export (const|async function|function) handler\b/m.test(code))
        .map(({ path }) => path),
    )
    expect(FUNCTIONS.filter(({ file }) => !hosts.has(`functions/${file}`))).toEqual([])
  })

  test('who reads documents, at whatever depth, is given what the place knows of steps', () => {
    const reads = sources
      .filter(({ code }) => /\bsteps\.describe\(|\bproject\.describe\(/.test(code))
      .map(({ path }) => path)
    const mustHave = FUNCTIONS.filter(({ file }) =>
      reachedFrom(`functions/${file}`).some((path) => reads.includes(path)),
    )
    expect(mustHave.map(({ name }) => name)).toContain('start-run')
    expect(mustHave.filter(({ ports }) => !ports.includes('steps')).map(({ name }) => name)).toEqual([])
  })

  test('a function is named as its file', () => {
    expect(FUNCTIONS.filter(({ name, file }) => !file.endsWith(`/${name}.ts`))).toEqual([])
  })
})

const OUTSIDE =
  /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|setInterval|setImmediate|process\.env|performance\.now|randomUUID|randomBytes)\b/

function importsOf(file: string, code: string): readonly string[] {
  const named = [...code.matchAll(/(?:from|import)\s+'([^']+)'|import\('([^']+)'\)/g)]
  return named.map(([, a, b]) => {
    const name = a ?? b ?? ''
    return name.startsWith('.') ? relative(ROOT, resolve(dirname(file), name)) : name
  })
}

/** The files a file reads, at whatever depth, types left out: what its bundle may hold. */
function reachedFrom(path: string, seen: Set<string> = new Set()): readonly string[] {
  if (seen.has(path)) return [...seen]
  seen.add(path)
  const code = sources.find((source) => source.path === path)?.code ?? ''
  for (const next of importsOf(join(ROOT, path), code.replace(/\bimport type [^']*'[^']*'/g, ''))) {
    reachedFrom(next, seen)
  }
  return [...seen]
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import {
  isBindingElement,
  isCallExpression,
  isFunctionDeclaration,
  isFunctionTypeNode,
  isIdentifier,
  isParameterDeclaration,
  isShorthandPropertyAssignment,
  type Node,
} from 'typescript/unstable/ast'
import { API, type Project, SymbolFlags, type Symbol as TsSymbol, type Type } from 'typescript/unstable/sync'
import { ROOT } from './assembly.ts'
import { keyOf, type NamedCode, readNamedCode } from './named-code.ts'

/** A command of an AWS SDK client, and where one of ours makes it. */
export interface SdkCall {
  /** `GetItem`. */
  readonly command: string
  /** Relative to the repository. */
  readonly file: string
  /** The function of that file. */
  readonly by: string
}

/** A method of a port where it is written, with what it and everything it uses asks of AWS. */
export interface PortMethod {
  readonly file: string
  readonly calls: readonly SdkCall[]
}

export interface SdkCalls {
  /** `runs`, `head`: every object that is written as the interface of the port; none where it has no such method. */
  methods(port: string, method: string): readonly PortMethod[]
  close(): void
}

/**
 * The code of functions/aws, and of what it imports, as a graph made with the compiler's own types: what is used inside a
 * function, a method of an object, or a variable. A member that an interface declares leads to every object that is
 * written as that interface. The compiler knows this one place only: nothing of infra/ is in it.
 */
export function openSdkCalls(): SdkCalls {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-types-'))
  const config = join(dir, 'tsconfig.json')
  const compilerOptions = { typeRoots: [join(ROOT, 'node_modules/@types')] }
  const include = [join(ROOT, 'functions/aws')]
  writeFileSync(config, JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include }))
  const api = new API({ cwd: ROOT })
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
  if (project === undefined) throw new Error('the compiler opened no project')
  const graph = graphOf(project)
  const types = portTypes(project)
  return {
    methods(port, method) {
      const type = types(port)
      const member = type && project.checker.getPropertyOfType(type, method)
      if (member === undefined) return []
      return graph.meant(member).map((code) => ({ file: code.file, calls: graph.callsFrom(code) }))
    },
    close() {
      api.close()
      rmSync(dir, { recursive: true })
    },
  }
}

/** The interfaces of World's members; a provider is what its registry hands out. */
function portTypes({ checker, program }: Project): (port: string) => Type | undefined {
  const declared = (path: string, name: string) => {
    const file = program.getSourceFile(join(ROOT, path))
    const module = file && checker.getSymbolAtLocation(file)
    const found = module && checker.getExportsOfModule(module).find((symbol) => symbol.name === name)
    return found && checker.getDeclaredTypeOfSymbol(found)
  }
  const world = declared('shared/world.ts', 'World')
  return (port) => {
    if (port === 'provider') return declared('shared/providers/provider.ts', 'Provider')
    const member = world && checker.getPropertyOfType(world, port)
    const type = member && checker.getTypeOfSymbol(member)
    return type && checker.getNonNullableType(type)
  }
}

function graphOf(project: Project) {
  const { checker } = project
  const codes = allOf(project)
  const byKey = new Map(codes.map((code) => [code.key, code]))
  const members = Map.groupBy(
    codes.filter(({ literal }) => literal !== undefined),
    ({ name }) => name,
  )
  /** Keys of what the interface declares that the object is written as. */
  const declaredAs = kept(({ literal, name }: NamedCode) => {
    const type = literal && checker.getContextualType(literal)
    return type === undefined ? [] : keysOf(checker.getPropertyOfType(type, name))
  })
  const meant = (symbol: TsSymbol) => {
    const keys = keysOf(symbol)
    const written = members.get(symbol.name) ?? []
    return [
      ...keys.flatMap((key) => byKey.get(key) ?? []),
      ...written.filter((code) => declaredAs(code).some((key) => keys.includes(key))),
    ]
  }
  const resolved = (nodes: readonly Node[]): readonly TsSymbol[] => {
    const symbols = checker.getSymbolAtLocation(nodes)
    return nodes.flatMap((node, i) => behind(project, node, symbols[i]))
  }
  const callsOf = Map.groupBy(
    codes.flatMap(({ calls }) => calls),
    ({ expression }) => (isIdentifier(expression) ? expression.text : ''),
  )
  /** What callers hand over for a parameter, as names: one that they were handed over themselves leads on. */
  const handedOver = (symbol: TsSymbol, known: ReadonlySet<TsSymbol> = new Set()): readonly TsSymbol[] => {
    const parameter = symbol.valueDeclaration?.resolve()
    if (known.has(symbol) || parameter === undefined || !isParameterDeclaration(parameter)) return []
    // Nobody can call another one.
    if (parameter.type === undefined || !isFunctionTypeNode(parameter.type)) return []
    const { parent: by } = parameter
    if (!isFunctionDeclaration(by) || by.name === undefined) return []
    const key = keyOf(by.getSourceFile().path, by)
    const calls = (callsOf.get(by.name.text) ?? []).filter(({ expression }) =>
      resolved([expression]).flatMap(keysOf).includes(key),
    )
    const given = calls.flatMap((call) => call.arguments[by.parameters.indexOf(parameter)] ?? [])
    const names = resolved(given.flatMap(namesIn))
    return [...names, ...names.flatMap((name) => handedOver(name, new Set([...known, symbol])))]
  }
  const usedBy = kept(({ uses }: NamedCode) => {
    const inCalls = uses.filter((node) => isCallExpression(node.parent))
    const handed = resolved(inCalls).flatMap((symbol) => handedOver(symbol))
    return [...resolved(uses), ...handed].flatMap(meant)
  })
  return {
    meant,
    callsFrom(first: NamedCode): readonly SdkCall[] {
      const seen = new Set([first])
      for (const code of seen) for (const used of usedBy(code)) seen.add(used)
      return [...seen].flatMap(({ commands, file, outermost }) =>
        commands.map((command) => ({ command, file, by: outermost })),
      )
    },
  }
}

function allOf({ program }: Project): readonly NamedCode[] {
  return program.getSourceFileNames().flatMap((path) => {
    const file = relative(ROOT, path)
    const source = /^(functions|shared)\//.test(file) ? program.getSourceFile(path) : undefined
    return source === undefined ? [] : readNamedCode(source, file)
  })
}

/** What a name stands for: behind an import, a shorthand, or a part taken out of an object. */
function behind({ checker }: Project, node: Node, symbol: TsSymbol | undefined): readonly TsSymbol[] {
  if (symbol === undefined) return []
  if ((symbol.flags & SymbolFlags.Alias) !== 0) return [checker.getAliasedSymbol(symbol)]
  const { parent } = node
  if (isShorthandPropertyAssignment(parent)) {
    const value = checker.getShorthandAssignmentValueSymbol(parent)
    return value === undefined ? [symbol] : [symbol, ...behind({ checker } as Project, parent.parent, value)]
  }
  const declaration = symbol.valueDeclaration?.resolve()
  if (declaration === undefined || !isBindingElement(declaration)) return [symbol]
  const name = declaration.propertyName ?? declaration.name
  const type = checker.getTypeAtLocation(declaration.parent)
  const part = type && name && isIdentifier(name) ? checker.getPropertyOfType(type, name.text) : undefined
  return part === undefined ? [symbol] : [symbol, part]
}

function namesIn(node: Node): readonly Node[] {
  const found: Node[] = isIdentifier(node) ? [node] : []
  node.forEachChild((child) => void found.push(...namesIn(child)))
  return found
}

function keysOf(symbol: TsSymbol | undefined): readonly string[] {
  return (symbol?.declarations ?? []).flatMap((handle) => {
    const node = isOurs(handle.path) ? handle.resolve() : undefined
    return node === undefined ? [] : keyOf(handle.path, node)
  })
}

function isOurs(path: string): boolean {
  return !path.includes('/node_modules/') && !path.startsWith('bundled:')
}

function kept<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>()
  return (key) => {
    const made = known.get(key) ?? make(key)
    known.set(key, made)
    return made
  }
}

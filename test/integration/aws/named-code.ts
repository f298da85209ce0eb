import {
  type CallExpression,
  type Expression,
  isArrowFunction,
  isCallExpression,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isNewExpression,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isShorthandPropertyAssignment,
  isVariableDeclaration,
  type MethodDeclaration,
  type Node,
  type ObjectLiteralExpression,
  type PropertyAssignment,
  type ShorthandPropertyAssignment,
  type SourceFile,
} from 'typescript/unstable/ast'

/** Code that runs when its name is used: a function, a variable with all it is made of, a method of an object. */
export interface NamedCode {
  readonly key: string
  readonly name: string
  /** Relative to the repository. */
  readonly file: string
  /** The declaration of the file that holds it. */
  readonly outermost: string
  /** The object it is a method of. */
  readonly literal: ObjectLiteralExpression | undefined
  /** Names in it that may be something of ours. */
  readonly uses: Node[]
  readonly calls: CallExpression[]
  /** Commands of AWS SDK clients that it makes: `GetItem`. */
  readonly commands: string[]
}

export function keyOf(path: string, node: Pick<Node, 'pos'>): string {
  return `${path}:${node.pos}`
}

/**
 * All of a file. An object that is an argument is handed to somebody who calls what is in it, so that belongs to the code
 * that hands it over; the methods of every other object have a name of their own.
 */
export function readNamedCode(source: SourceFile, file: string): readonly NamedCode[] {
  const found: NamedCode[] = []
  const visit = (node: Node, place: Place): void => {
    const named = nameOf(node, place)
    if (named !== undefined) {
      const outermost = place.in?.outermost ?? named.name
      const code: NamedCode = {
        key: keyOf(source.path, node),
        ...named,
        file,
        outermost,
        uses: [],
        calls: [],
        commands: [],
      }
      found.push(code)
      // A variable is made where it stands.
      if (isVariableDeclaration(node) && !isFunction(node.initializer)) place.in?.uses.push(node.name)
      place = { in: code, isArgument: false }
    }
    note(node, place.in)
    const given: readonly Node[] = isCallExpression(node) || isNewExpression(node) ? (node.arguments ?? []) : []
    const { isArgument } = place
    node.forEachChild((child) => visit(child, { ...place, isArgument: isArgument || given.includes(child) }))
  }
  source.forEachChild((node) => visit(node, { isArgument: false }))
  return found
}

interface Place {
  readonly in?: NamedCode
  readonly isArgument: boolean
}

function note(node: Node, code: NamedCode | undefined): void {
  if (isIdentifier(node)) code?.uses.push(node)
  if (isCallExpression(node)) code?.calls.push(node)
  if (!isNewExpression(node) || !isIdentifier(node.expression)) return
  const [, command] = /^([A-Z]\w+)Command$/.exec(node.expression.text) ?? []
  if (command !== undefined) code?.commands.push(command)
}

function nameOf(node: Node, { isArgument }: Place): Pick<NamedCode, 'name' | 'literal'> | undefined {
  if (isFunctionDeclaration(node) || isVariableDeclaration(node)) {
    return node.name !== undefined && isIdentifier(node.name) ? { name: node.name.text, literal: undefined } : undefined
  }
  if (isArgument || !isMember(node)) return undefined
  const { parent } = node
  return isIdentifier(node.name) && isObjectLiteralExpression(parent)
    ? { name: node.name.text, literal: parent }
    : undefined
}

/** A member that is code: data is made where it stands. */
function isMember(node: Node): node is MethodDeclaration | PropertyAssignment | ShorthandPropertyAssignment {
  if (isMethodDeclaration(node) || isShorthandPropertyAssignment(node)) return true
  if (!isPropertyAssignment(node)) return false
  const { initializer } = node
  return isFunction(initializer) || isIdentifier(initializer) || isPropertyAccessExpression(initializer)
}

function isFunction(node: Expression | undefined): boolean {
  return node !== undefined && (isArrowFunction(node) || isFunctionExpression(node))
}

import { join } from 'node:path'
import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { ChosenRights } from './access.ts'
import { CatalogFunction, functionEnvironment } from './catalog-function.ts'
import { functionsIn, isDeployed } from './function-sizes.ts'
import type { Names } from './names.ts'

interface OperationsStackProps extends StackProps {
  readonly names: Names
  readonly chosen: ChosenRights
  /** Holds `functions/<name>/`. */
  readonly built: string
}

/**
 * The functions of the routes that operate a stage: what starts runs, finds them and forgets them. The API's stack has their
 * routes and names them: with their functions it would be over what CloudFormation takes in one stack.
 */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { names, chosen, built, ...props }: OperationsStackProps) {
    super(scope, id, props)
    for (const line of functionsIn('operations').filter((line) => isDeployed(line, chosen))) {
      const bundle = join(built, 'functions', line.name)
      const environment = functionEnvironment(line, this, names, chosen)
      new CatalogFunction(this, { line, names, bundle, environment, chosen })
    }
  }
}

import { Duration } from 'aws-cdk-lib'
import {
  AuthorizationType,
  LambdaIntegration,
  type MethodOptions,
  ResponseTransferMode,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { RouteLine } from '../../shared/routes.ts'

/**
 * Routes as methods of the API, their callers asked for as `authorized` says; routes that stream are passed on as they come. Of one that Slack signs the
 * gateway lets everybody through to the function that checks it: it has a tighter throttle than the stage (api-stack.ts).
 */
export function addRoutes(
  api: RestApi,
  routes: readonly RouteLine[],
  functionOf: (name: string) => IFunction,
  authorized: MethodOptions,
): void {
  const requestValidator = api.addRequestValidator('Parameters', {
    validateRequestBody: true,
    validateRequestParameters: true,
  })
  const integrations = new Map<string, LambdaIntegration>()
  for (const route of routes) {
    const integration = integrations.get(route.name) ?? integrationOf(route, functionOf(route.name))
    integrations.set(route.name, integration)
    api.root.resourceForPath(route.path).addMethod(route.method, integration, {
      ...(route.signed_by === undefined ? authorized : { authorizationType: AuthorizationType.NONE }),
      requestValidator,
      requestParameters: parametersOf(route.path),
    })
  }
}

/** API Gateway's longest wait for a stream, and for a whole answer. */
const STREAM = { responseTransferMode: ResponseTransferMode.STREAM, timeout: Duration.minutes(15) }
const WHOLE = { timeout: Duration.seconds(29) }

function integrationOf({ stream }: RouteLine, handler: IFunction): LambdaIntegration {
  return new LambdaIntegration(handler, { ...(stream === true ? STREAM : WHOLE), allowTestInvoke: false })
}

/** Path parameters are required; everything else of a request is judged by the handler, in its own words. */
function parametersOf(path: string): Record<string, boolean> {
  const names = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => `method.request.path.${name}`)
  return Object.fromEntries(names.map((name) => [name, true]))
}

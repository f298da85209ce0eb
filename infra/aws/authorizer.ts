import { Duration } from 'aws-cdk-lib'
import { AuthorizationType, type MethodOptions, TokenAuthorizer } from 'aws-cdk-lib/aws-apigateway'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { Chosen } from './access.ts'

/** A token that is revoked ends within this time: so long is an answer kept for a credential. */
const KEPT = Duration.seconds(60)

/** What no function need be asked about: API Gateway itself answers 401. */
const SHAPES = {
  token: '^[Bb]earer slu_[0-9a-hjkmnp-tv-z]{16}_[0-9a-hjkmnp-tv-z]{32}$',
  jwt: '^[Bb]earer [!-~]{1,8192}$',
}

/** How callers of the routes prove who they are: signed by IAM, or as the function says that `functionOf` answers. */
export function authorization(
  scope: Construct,
  mode: Chosen['auth'],
  functionOf: (name: string) => IFunction,
): MethodOptions {
  if (mode === undefined) return { authorizationType: AuthorizationType.IAM }
  const authorizer = new TokenAuthorizer(scope, 'Authorizer', {
    handler: functionOf('authorize'),
    resultsCacheTtl: KEPT,
    validationRegex: SHAPES[mode],
  })
  return { authorizationType: AuthorizationType.CUSTOM, authorizer }
}

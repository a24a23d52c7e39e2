"""Calls the service with a generated client: prints what is left of the submission type after each update."""

import json
import os

from made import ApiClient, Configuration, PracticeGroupsApi, SubmissionTypePatch, SubmissionTypesApi

keys = {"ApiKey": os.environ["PORTER_KEY"], "PracticeGroupId": os.environ["PORTER_GROUP"]}
client = ApiClient(Configuration(host=os.environ["PORTER_URL"], api_key=keys))

groups = PracticeGroupsApi(client).list_practice_groups_without_preload_content()
print(json.loads(groups.data)["data"][0]["id"])
for patch in (
    SubmissionTypePatch(daily_limit=20, description="Set"),
    SubmissionTypePatch(title="Omitted"),
    SubmissionTypePatch(description=None),
):
    changed = SubmissionTypesApi(client).update_submission_type("type-1", patch)
    print(changed.title, changed.daily_limit, changed.description)

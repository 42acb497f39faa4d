package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "operator.hydrofoil.test", Version: "v1"}

// Task says how many steps are wanted; its status how many there are.
type Task struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TaskSpec   `json:"spec"`
	Status            TaskStatus `json:"status,omitempty"`
}

// TaskSpec is what is wanted.
type TaskSpec struct {
	Steps int64 `json:"steps"`
}

// TaskStatus is what was found.
type TaskStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Steps              int64              `json:"steps,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// TaskList is a list of tasks.
type TaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Task `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Task{}, &TaskList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// DeepCopyInto copies a task.
func (t *Task) DeepCopyInto(out *Task) {
	*out = *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = nil
	for i := range t.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *t.Status.Conditions[i].DeepCopy())
	}
}

// DeepCopyObject copies a task.
func (t *Task) DeepCopyObject() runtime.Object {
	out := &Task{}
	t.DeepCopyInto(out)
	return out
}

// DeepCopyObject copies a list.
func (l *TaskList) DeepCopyObject() runtime.Object {
	out := &TaskList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Task))
	}
	return out
}
